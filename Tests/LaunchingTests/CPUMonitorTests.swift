import TaskModel
import Testing

@testable import Launching

@Suite struct CPUMonitorTests {
    private static func monitor(_ limit: CPULimit? = .standard, cores: Int = 2) -> CPUMonitor {
        CPUMonitor(limit: limit, cores: cores, at: .seconds(1000), usage: .zero)
    }

    private static func at(_ seconds: Double) -> Duration { .seconds(1000) + .seconds(seconds) }

    @Test func `48 of 60 s are too much, a little less is not`() {
        var monitor = Self.monitor()
        #expect(monitor.sample(at: Self.at(50.1), usage: .milliseconds(47_999)) != .within)
        var other = Self.monitor()
        #expect(
            other.sample(at: Self.at(50.1), usage: .seconds(48))
                == .exceeded(message: "48.0 s CPU over 50.1 s (96 %), exceeding 80 % over 60 s"))
    }

    @Test func `half the quota warns once`() {
        var monitor = Self.monitor()
        #expect(monitor.sample(at: Self.at(20), usage: .milliseconds(23_999)) == .within)
        #expect(
            monitor.sample(at: Self.at(25), usage: .seconds(24))
                == .half(message: "24.0 s CPU over 25.0 s (96 %), half of 80 % over 60 s"))
        #expect(monitor.sample(at: Self.at(26), usage: .seconds(25)) == .within)
    }

    @Test func `it is past half of the quota until that use has left the window`() {
        var monitor = Self.monitor()
        _ = monitor.sample(at: Self.at(25), usage: .milliseconds(23_999))
        #expect(!monitor.isPastHalf)
        _ = monitor.sample(at: Self.at(26), usage: .seconds(24))
        #expect(monitor.isPastHalf)
        #expect(
            monitor.history == "CPU time at each sample: 0.0 s at 0.0 s, 24.0 s at 25.0 s, 24.0 s at 26.0 s")
        _ = monitor.sample(at: Self.at(80), usage: .seconds(25))
        #expect(!monitor.isPastHalf)
        _ = monitor.sample(at: Self.at(100), usage: .seconds(49))
        #expect(monitor.isPastHalf)
        monitor.setLimit(.standard, at: Self.at(101), usage: .seconds(50))
        #expect(!monitor.isPastHalf)
    }

    @Test func `the next sample is when the quota could first be spent`() {
        var monitor = Self.monitor(cores: 4)
        // On four cores, half of the quota (24 s of CPU time) takes at least 24 s / 4.
        #expect(monitor.nextSampleIn == .seconds(6))
        _ = monitor.sample(at: Self.at(30), usage: .seconds(24))
        #expect(monitor.nextSampleIn == .seconds(6))
        _ = monitor.sample(at: Self.at(40), usage: .seconds(40))
        #expect(monitor.nextSampleIn == .seconds(2))
        _ = monitor.sample(at: Self.at(41), usage: .milliseconds(47_999))
        #expect(monitor.nextSampleIn == .milliseconds(100))
        // The launch's memory is sampled once a second; these samples read no CPU time before this time.
        #expect(monitor.nextSampleAt == Self.at(41) + .milliseconds(100))
    }

    @Test func `use that has left the window does not count`() {
        var monitor = Self.monitor()
        _ = monitor.sample(at: Self.at(30), usage: .seconds(24))
        _ = monitor.sample(at: Self.at(95), usage: .seconds(24))
        #expect(monitor.sample(at: Self.at(150), usage: .seconds(71)) != .exceeded(message: ""))
        // At 151 s the window holds just under 48 s of CPU time, used since 95 s; the 24 s before that have
        // left it.
        #expect(monitor.sample(at: Self.at(151), usage: .milliseconds(71_999)) == .within)
        if case .exceeded = monitor.sample(at: Self.at(152), usage: .seconds(72)) {
        } else {
            Issue.record("48 s inside 57 s were let pass")
        }
    }

    @Test func `a steady 79 per cent is never ended, a steady 82 per cent is`() {
        for (percent, isEnded) in [(79, false), (82, true)] {
            var monitor = Self.monitor()
            var time = 0.0
            var exceeded = false
            while time < 600, !exceeded {
                time += monitor.nextSampleIn?.inSeconds ?? 1
                let usage = Duration.seconds(time * Double(percent) / 100)
                if case .exceeded = monitor.sample(at: Self.at(time), usage: usage) { exceeded = true }
            }
            #expect(exceeded == isEnded, "\(percent) %")
        }
    }

    @Test func `a limit that comes into force starts a window afresh`() {
        var monitor = Self.monitor(nil)
        #expect(monitor.nextSampleIn == nil)
        #expect(monitor.sample(at: Self.at(50), usage: .seconds(50)) == .within)
        monitor.setLimit(.standard, at: Self.at(50), usage: .seconds(50))
        #expect(monitor.sample(at: Self.at(100), usage: .milliseconds(97_999)) != .within)
        if case .exceeded = monitor.sample(at: Self.at(101), usage: .seconds(98)) {
        } else {
            Issue.record("48 s in a window of 51 s were let pass")
        }
    }
}
