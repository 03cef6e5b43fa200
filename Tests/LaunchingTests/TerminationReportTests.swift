import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// What the host finds out about launches that crash, are killed, or reach a limit.
@Suite(.system, .serialized) struct TerminationReportTests {
    private static let kinds: [GroupKill?] = [.none, .noFork, .pidNamespace]

    private func end(
        of what: String, _ groupKill: GroupKill? = nil, _ change: (inout LaunchOrder) -> Void = { _ in }
    ) async throws -> LaunchEnd {
        let harness = try await LaunchHarness(groupKill: groupKill)
        var order = try harness.order(what)
        change(&order)
        let end = try #require(try await harness.run(order).end)
        await harness.end()
        return end
    }

    @Test(arguments: kinds)
    func `a crash is reported with its address, its stack, the progress and the assertions`(
        _ groupKill: GroupKill?
    ) async throws {
        let end = try await end(of: "reads-nothing", groupKill)
        #expect(end.outcome == .crashed && end.reason == .signal && end.signal == 11, "\(end)")
        let report = try #require(end.termination)
        #expect(report.faultAddress == "0x10", "\(report)")
        let fatal = try #require(report.threads.first)
        #expect(fatal.isFatal && !report.threads.dropFirst().contains(where: \.isFatal), "\(report)")
        #expect(fatal.frames.first?.hasPrefix("read_nothing+0x") == true, "\(fatal)")
        #expect(fatal.frames.contains { $0.hasPrefix("run+0x") && $0.hasSuffix("misbehaves.so") }, "\(fatal)")
        #expect(fatal.frames.contains { $0.hasPrefix("task_run+0x") }, "\(fatal)")
        #expect(report.lastProgress?.completed == 3 && report.lastProgress?.message == "three", "\(report)")
        #expect(report.assertions.map(\.name) == ["flush"], "\(report)")
        #expect(report.assertions.first?.frames.first?.hasPrefix("begin_flush+0x") == true, "\(report)")
        #expect(report.notes == [])
    }

    @Test func `a crash on another thread shows that thread first, and what the others waited for`()
        async throws
    {
        let report = try #require(try await end(of: "crashes-on-a-thread").termination)
        let fatal = try #require(report.threads.first)
        #expect(fatal.isFatal, "\(report)")
        #expect(fatal.frames.contains { $0.hasPrefix("crash_beside+0x") }, "\(fatal)")
        let waiting = report.threads.filter { thread in
            thread.frames.contains { $0.hasPrefix("wait_for_ever+0x") }
        }
        #expect(waiting.map(\.state) == ["sleeping", "sleeping"], "\(report)")
        // The main thread hangs, too; the fifth thread is the runner's own, which does not answer.
        #expect(report.threads.count == 5, "\(report)")
        #expect(report.threads.contains { $0.frames.contains { $0.hasPrefix("crash_on_a_thread+0x") } })
    }

    @Test func `an overflow of the stack is reported`() async throws {
        let end = try await end(of: "overflows-the-stack")
        #expect(end.outcome == .crashed && end.signal == 11, "\(end)")
        let fatal = try #require(end.termination?.threads.first)
        #expect(fatal.isFatal && fatal.frames.count == FatalMoment.shownFrames, "\(fatal)")
        #expect(fatal.frames.allSatisfy { $0.hasPrefix("go_deeper+0x") }, "\(fatal)")
    }

    @Test func `a crash in an expiration handler is reported, although it is on the control thread`()
        async throws
    {
        let harness = try await LaunchHarness()
        let order = try harness.order("crashes-in-expiration")
        harness.launcher.launch(order)
        try await harness.wait(for: "its expiration handler") {
            harness.sight(order.id).events.contains { if case .log = $0 { true } else { false } }
        }
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "its end") { harness.sight(order.id).end != nil }
        let end = try #require(harness.sight(order.id).end)
        #expect(end.outcome == .crashed && end.signal == 6, "\(end)")
        let threads = try #require(end.termination).threads
        #expect(threads.first?.frames.contains { $0.hasPrefix("expire_crash+0x") } == true, "\(threads)")
        #expect(threads.contains { $0.frames.contains { $0.hasPrefix("hang+0x") } }, "\(threads)")
        await harness.end()
    }

    @Test func `a crash after completion keeps the outcome and is reported`() async throws {
        let end = try await end(of: "crashes-after")
        #expect(end.outcome == .succeeded && end.signal == 11, "\(end)")
        #expect(end.termination?.threads.first?.isFatal == true, "\(end)")
    }

    @Test func `a child that crashes is not a crash of the task`() async throws {
        let end = try await end(of: "crashes-in-a-child") {
            $0.handler.manifest.sandbox.subprocesses = true
        }
        #expect(end.outcome == .succeeded && end.termination == nil, "\(end)")
    }

    @Test func `too many assertions are a code, a limit, and the places where they began`() async throws {
        let end = try await end(of: "leaks-assertions")
        #expect(end.outcome == .killed && end.code == 0xbada_5e47, "\(end)")
        let report = try #require(end.termination)
        #expect(report.limits == [.init("assertions", limit: "1000", used: "1001")], "\(report)")
        #expect(report.assertions.count == TerminationDraft.shownAssertions)
        #expect(report.furtherAssertions == 1000 - TerminationDraft.shownAssertions)
        let frames = try #require(report.assertions.first).frames
        #expect(frames.first?.hasPrefix("begin_flush+0x") == true, "\(frames)")
        #expect(frames.contains { $0.hasPrefix("leak_assertions+0x") }, "\(frames)")
    }

    @Test(arguments: kinds)
    func `a stall report tells stuck from slow, before the task is asked to stop`(_ groupKill: GroupKill?)
        async throws
    {
        for (what, verdict) in [("stalls", TerminationReport.Stall.Verdict.stuck), ("is-slow", .slow)] {
            let harness = try await LaunchHarness(groupKill: groupKill)
            let order = try harness.order(what)
            harness.launcher.launch(order)
            try await harness.wait(for: "its line") {
                harness.sight(order.id).events.contains { if case .log = $0 { true } else { false } }
            }
            if verdict == .slow {
                // The task must have used CPU time, however busy the machine is.
                let pid = try #require(harness.pid(order.id))
                try await harness.wait(for: "0.2 s of CPU time") {
                    ProcessUsage.cpuTime(of: ProcessUsage.processes(below: pid)) >= .milliseconds(200)
                }
            } else {
                // Its line comes before the call in which it stalls.
                let pid = try #require(harness.pid(order.id))
                try await harness.wait(for: "all its processes to wait") {
                    ProcessUsage.processes(below: pid).allSatisfy {
                        (try? SmallFile.read("/proc/\($0)/stat"))?.contains(") S ") == true
                    }
                }
                // Its start took CPU time, which must be little beside the time without progress.
                harness.clocks.advance(by: .seconds(60))
            }
            harness.launcher.expire(order.id, reason: .noProgress)
            try await harness.wait(for: "its end") { harness.sight(order.id).end != nil }
            let end = try #require(harness.sight(order.id).end)
            let report = try #require(end.termination, "\(end)")
            let stall = try #require(report.stall, "\(report)")
            // How much of a core a spinning task gets on a busy machine can't be predicted.
            if verdict == .stuck {
                #expect(stall.verdict == .stuck && stall.waitsIn == "pause", "\(stall)")
            } else {
                #expect(stall.cpuSeconds > 0 && stall.waitsIn == nil, "\(stall)")
            }
            #expect(end.outcome == .killed && end.code == LaunchLife.deadlineCode, "\(end)")
            #expect(report.limits.map(\.name) == ["grace period"], "\(report)")
            // The warning comes before the request to stop.
            let events = harness.sight(order.id).events
            let warning = try #require(
                events.firstIndex { if case .log(_, .warning, _, _, _) = $0 { true } else { false } })
            let expiring = try #require(
                events.firstIndex { if case .expiring = $0 { true } else { false } })
            #expect(warning < expiring, "\(events)")
            await harness.end()
        }
    }

    @Test func `a success, a failure and a cancellation need no report`() async throws {
        for what in ["succeeds", "fails", "exits"] {
            #expect(try await end(of: what).termination == nil)
        }
    }

    @Test func `a file that is larger than the rest of the limit is not read for a report`() throws {
        let bytes = try FileContents.read("/proc/self/exe", limit: .max / 2).count
        #expect(ELFSymbols(path: "/proc/self/exe", limit: bytes).size == bytes)
        #expect(ELFSymbols(path: "/proc/self/exe", limit: bytes - 1).size == 0)
    }

    /// A task may map such a file, so that the host reads it for the report of a crash.
    @Test(arguments: [UInt64.max, UInt64.max - 2, UInt64.max - 5, UInt64.max - 40])
    func `a library whose tables lie at the end of all numbers has no symbols`(_ offset: UInt64) {
        var bytes = [UInt8](repeating: 0xFF, count: 256)
        bytes.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        for place in [32, 40] {
            for index in 0..<8 { bytes[place + index] = UInt8(truncatingIfNeeded: offset >> (index * 8)) }
        }
        let symbols = ELFSymbols(bytes)
        for address: UInt64 in [0, 0x1000, .max] { #expect(symbols.function(atOffset: address) == nil) }
    }
}
