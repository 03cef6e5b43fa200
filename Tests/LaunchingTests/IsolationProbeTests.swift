import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The probe of the machine, where a container's filter refuses what the kernel could do.
@Suite(.system, .serialized) struct IsolationProbeTests {
    /// A runner under a filter like that of a container (caged.c): no namespaces, no mounts, no clone3.
    private final class CagedRunner {
        let folder: URL
        var path: String { folder.appending(path: "runner").path }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "caged-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Fixtures/Programs/caged.c").path
            let cage = folder.appending(path: "cage").path
            let answer = Command.run(
                "cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", cage, source)
            guard answer.status == 0 else { throw TestFailure("cc: \(answer.output)") }
            try Data("#!/bin/sh\nexec '\(cage)' '\(Products.path("bgtask-runner"))' \"$@\"\n".utf8).write(
                to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    @Test func `a PID namespace that a filter refuses is not offered, and launches run without it`()
        async throws
    {
        let runner = try CagedRunner()
        let error = #expect(throws: LauncherError.self) {
            try IsolationProbe(
                stateDirectory: runner.folder.path, runnerPath: runner.path, wanted: .pidNamespace)
        }
        #expect(error?.code == .isolationUnavailable)
        #expect(
            error?.finding == "an attempt failed: Operation not permitted", "\(String(describing: error))")
        let probe = try IsolationProbe(
            stateDirectory: runner.folder.path, runnerPath: runner.path, wanted: .noFork)
        #expect(probe.report.groupKill == .noFork)
        let harness = try await LaunchHarness(groupKill: .noFork, runner: runner.path)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `outside such a cage, the attempt succeeds`() throws {
        let probe = try IsolationProbe(
            stateDirectory: FileManager.default.temporaryDirectory.path,
            runnerPath: Products.path("bgtask-runner"), wanted: .noFork)
        let layer = try #require(probe.report.layers.first { $0.name == "pid namespace" })
        let command = Command.run("unshare", "--pid", "--mount", "--fork", "true")
        #expect(layer.isAvailable == (command.status == 0) || geteuid() != 0, "\(layer)")
    }
}
