import LinuxSystem
import TaskModel
import Testing

@testable import Launching

/// The counters of the memory controller distinguish a kill by the kernel for lack of memory from a crash.
@Suite struct MemoryEndTests {
    private static func events(kills: Int64, limitHits: Int64, peak: Int64? = nil) -> MemoryEvents {
        var events = MemoryEvents()
        events.kills = kills
        events.limitHits = limitHits
        events.peakBytes = peak
        return events
    }

    private static func running() -> LaunchLife {
        var life = LaunchLife(grace: .seconds(1))
        for event: LaunchLife.Event in [.templateReady, .spawned, .ready] { _ = life.handle(event) }
        return life
    }

    @Test func `far beyond the limit is twice as much, and at least 64 MiB more`() {
        #expect(MemoryEnd.most(limit: .mebibytes(8)) == .mebibytes(72))
        #expect(MemoryEnd.most(limit: .mebibytes(64)) == .mebibytes(128))
        #expect(MemoryEnd.most(limit: .mebibytes(1024)) == .mebibytes(2048))
    }

    @Test func `the message names the limit and the peak`() {
        #expect(
            MemoryEnd.finding(
                before: Self.events(kills: 0, limitHits: 0, peak: 5 << 20),
                after: Self.events(kills: 1, limitHits: 9, peak: 256 << 20), limit: .mebibytes(256))
                == "the kernel killed it at its memory limit of 256 MiB, its peak was 256 MiB")
    }

    @Test func `a machine that ran out of memory is not the launch's own limit`() {
        let finding = MemoryEnd.finding(
            before: Self.events(kills: 0, limitHits: 4), after: Self.events(kills: 1, limitHits: 4),
            limit: .mebibytes(256))
        #expect(
            finding
                == "the kernel killed it because the machine or a parent cgroup ran out of memory; "
                + "its own limit is 256 MiB")
    }

    @Test func `what was counted before the launch, or not at all, is none of its business`() {
        let old = Self.events(kills: 3, limitHits: 9)
        #expect(MemoryEnd.finding(before: old, after: old, limit: .mebibytes(1)) == nil)
        #expect(MemoryEnd.finding(before: nil, after: nil, limit: .mebibytes(1)) == nil)
    }

    @Test func `such an end is killed by memoryLimit, any other SIGKILL a crash`() {
        var killed = Self.running()
        let end = LaunchEnd(outcome: .killed, reason: .memoryLimit, message: "why")
        guard case .end(let seen) = killed.handle(.exited(.signal(9), leftovers: 0, outOfMemory: "why")).first
        else {
            Issue.record("no end")
            return
        }
        #expect(seen.outcome == end.outcome && seen.reason == end.reason && seen.message == "why")
        #expect(seen.signal == 9)
        for (signal, why) in [(Int32(9), nil), (11, "why")] {
            var life = Self.running()
            guard
                case .end(let seen) = life.handle(.exited(.signal(signal), leftovers: 0, outOfMemory: why))
                    .first
            else {
                Issue.record("no end")
                return
            }
            #expect(seen.outcome == .crashed && seen.reason == .signal)
        }
    }

    @Test func `one that completed before it was killed has completed`() {
        var life = Self.running()
        _ = life.handle(.done(success: true, message: nil, isUnstarted: false))
        guard case .end(let seen) = life.handle(.exited(.signal(9), leftovers: 0, outOfMemory: "why")).first
        else {
            Issue.record("no end")
            return
        }
        #expect(seen.outcome == .succeeded)
    }
}
