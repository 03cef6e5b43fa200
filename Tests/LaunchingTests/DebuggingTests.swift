import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// Launches with `--debug`, and a real tracer.
@Suite(.system, .serialized) struct DebuggingTests {
    /// A program that attaches to a process without stopping it, like a debugger that lets its process run.
    final class Tracer {
        static let source = """
            #include <signal.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <sys/ptrace.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(int count, char **arguments) {
                int pid = count > 1 ? atoi(arguments[1]) : 0;
                if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0) return 1;
                puts("attached");
                fflush(stdout);
                for (int status; waitpid(pid, &status, __WALL) > 0;) {
                    int event = status >> 16, number = WSTOPSIG(status);
                    if (event == PTRACE_EVENT_STOP && number == SIGSTOP)
                        ptrace(PTRACE_LISTEN, pid, 0, 0); // it stays stopped until SIGCONT
                    else
                        ptrace(PTRACE_CONT, pid, 0, event == 0 ? number : 0);
                }
                return 0;
            }
            """
        let process = Process()

        init(of pid: Int32, in folder: URL) throws {
            let program = folder.appending(path: "tracer")
            let source = folder.appending(path: "tracer.c")
            try Self.source.write(to: source, atomically: true, encoding: .utf8)
            let compiler = Process()
            compiler.executableURL = URL(filePath: "/usr/bin/env")
            compiler.arguments = ["cc", "-D_GNU_SOURCE", "-o", program.path, source.path]
            try compiler.run()
            compiler.waitUntilExit()
            try #require(compiler.terminationStatus == 0)
            let output = Pipe()
            process.executableURL = program
            process.arguments = ["\(pid)"]
            process.standardOutput = output
            try process.run()
            try #require(output.fileHandleForReading.availableData == Data("attached\n".utf8))
        }

        /// Ends the tracer, which detaches it.
        func end() {
            try? ProcessHandle(of: process.processIdentifier).kill()
            process.waitUntilExit()
        }
    }

    private static func order(_ harness: LaunchHarness, _ what: String, grace: Duration) throws -> LaunchOrder
    {
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: grace)
        limits.cpu = CPULimit(percent: 20, window: .seconds(2))
        var order = try harness.order(what, limits: limits)
        order.isDebugged = true
        return order
    }

    private static func holds(_ harness: LaunchHarness, _ id: LaunchID) -> [Bool] {
        harness.sight(id).events.compactMap {
            if case .tracingChanged(_, let held) = $0 { held } else { nil }
        }
    }

    /// Launches a task, waits for its stop before the handler, and returns the number of its process.
    private static func stop(_ harness: LaunchHarness, _ order: LaunchOrder) async throws -> Int32 {
        harness.launcher.launch(order)
        try await harness.wait(for: "the hold") { Self.holds(harness, order.id) == [true] }
        let pid = try #require(harness.pid(order.id))
        try await harness.wait(for: "the stop") { ProcessTracing(of: [pid]).isStopped }
        return pid
    }

    @Test func `a launch that goes on without a debugger is held no more, and its CPU limit is in force`()
        async throws
    {
        let harness = try await LaunchHarness()
        let order = try Self.order(harness, "spins-handled", grace: .milliseconds(200))
        let pid = try await Self.stop(harness, order)
        try ProcessHandle(of: pid).signal(18)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.reason == .cpuLimit)
        #expect(Self.holds(harness, order.id) == [true, false])
        await harness.end()
    }

    @Test func `while a debugger is attached the CPU limit stands still, after it the limit ends the launch`()
        async throws
    {
        let harness = try await LaunchHarness()
        let order = try Self.order(harness, "spins-handled", grace: .milliseconds(200))
        let pid = try await Self.stop(harness, order)
        let tracer = try Tracer(of: pid, in: harness.folder)
        try ProcessHandle(of: pid).signal(18)
        var used = Duration.zero
        while used < .seconds(2) {
            try #require(harness.sight(order.id).end == nil)
            used = await harness.launcher.usage()[order.id]?.cpuTime ?? used
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(Self.holds(harness, order.id) == [true])
        #expect(ProcessTracing(of: [pid]).isTraced)
        tracer.end()
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.reason == .cpuLimit)
        #expect(Self.holds(harness, order.id) == [true, false])
        await harness.end()
    }

    @Test func `while a debugger is attached the grace stands still`() async throws {
        let harness = try await LaunchHarness()
        let order = try Self.order(harness, "ignores", grace: .seconds(3))
        let pid = try await Self.stop(harness, order)
        let tracer = try Tracer(of: pid, in: harness.folder)
        try ProcessHandle(of: pid).signal(18)
        try await harness.expireOnceItListens(order.id)
        // Two other launches have the same grace period, one after the other. Each ends, and the traced one
        // does not.
        for _ in 0..<2 {
            var other = try Self.order(harness, "ignores", grace: .seconds(3))
            other.isDebugged = false
            let id = other.id
            harness.launcher.launch(other)
            try await harness.expireOnceItListens(id)
            try await harness.wait(for: "end of the other") { harness.sight(id).end != nil }
            #expect(harness.sight(id).end?.outcome == .killed)
            #expect(harness.sight(order.id).end == nil)
        }
        tracer.end()
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .killed)
        #expect(harness.sight(order.id).end?.reason == .simulated)
        await harness.end()
    }

    @Test func `a task that waits for a debugger can be cancelled`() async throws {
        let harness = try await LaunchHarness()
        let order = try Self.order(harness, "expires", grace: .milliseconds(100))
        _ = try await Self.stop(harness, order)
        harness.launcher.expire(order.id, reason: .cancelledByUser)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .killed)
        await harness.end()
    }
}
