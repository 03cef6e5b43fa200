import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The temporary directories of two launches of one bundle.
@Suite(.system, .serialized) struct TemporaryDirectoryTests {
    @Test(arguments: GroupKill.allCases, ["works", "expires", "thread"])
    func `a launch changes its own temporary directory, and no other`(
        groupKill: GroupKill, label: String
    ) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill)
        let library = try PluginCompiler.compile("temporary", into: harness.folder.appending(path: "library"))
        let parent = harness.folder.appending(path: "tmp/com.example")
        for name in ["L1", "L2"] {
            let directory = parent.appending(path: name)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Data("text".utf8).write(to: directory.appending(path: "file"))
        }
        var order = try harness.order(label)
        order.handler.libraryPath = library
        order.handler.libraryHash = "temporary"
        order.place.temporaryDirectory = parent.appending(path: "L1").path
        order.place.temporaryParent = parent.path
        order.environment.append("OTHER=\(parent.appending(path: "L2").path)")
        if label == "thread" { order.environment.append("THREAD=1") }
        let id = order.id
        harness.launcher.launch(order)
        if label == "expires" {
            try await harness.wait(for: "the handler") {
                harness.sight(id).events.contains { if case .log = $0 { true } else { false } }
            }
            harness.launcher.expire(id, reason: .leaseEnded)
        }
        try await harness.wait(for: "the end") { harness.sight(id).end != nil }
        let end = harness.sight(id).end
        #expect(end?.message == "own data move null", "\(String(describing: end))")
        let other = try String(contentsOf: parent.appending(path: "L2/file"), encoding: .utf8)
        #expect(other == "text")
        await harness.end()
    }
}
