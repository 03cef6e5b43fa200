import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import Testing

@Suite(.system) struct RepeatedCommandTests {
    @Test func `a program whose file is still open for writing runs as soon as it is closed`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "busy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("program")
        try "#!/bin/sh\necho ready\n".write(to: program, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let writer = try FileHandle(forWritingTo: program)

        let results = Mutex<[RepeatedCommand.Result]>([])
        let command = try RepeatedCommand(
            [program.path], interval: .seconds(3600), timeout: .seconds(60)
        ) { result in results.withLock { $0.append(result) } }
        defer { command.cancel() }
        // This can't wait for an attempt that fails, because nothing shows it. A host that gives up does so
        // within a few milliseconds.
        for _ in 0..<20 where results.withLock({ $0.isEmpty }) { usleep(10_000) }
        try writer.close()
        try waitUntil("the program has run") { results.withLock { !$0.isEmpty } }
        #expect(results.withLock { $0 } == [.exited(status: 0, firstLine: "ready")])
    }
}
