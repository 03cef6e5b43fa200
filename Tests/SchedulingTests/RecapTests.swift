import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// A log that begins in the middle of a history begins with a recap: events that bring a new scheduler into
/// the state of the old one. The log must then continue as the history did.
@Suite struct RecapTests {
    /// The requests that these actions launch.
    private static func launches(_ actions: [SchedulerAction]) -> [String] {
        actions.compactMap { action in
            guard case .launch(let id, let isSimulated, let priority, _) = action else { return nil }
            return "\(id) \(isSimulated) \(priority)"
        }
    }

    @Test func `a scheduler that was told a recap launches what the other one launches`() {
        // The sum is compared because some histories never have a moment at which a recap is possible.
        let launched = (1...12).reduce(0) { $0 + launchesAfterRecaps(seed: $1) }
        #expect(launched > 100)
    }

    @Test func `the same is true of requests that wait for conflicting ones`() {
        let launched = (1...12).reduce(0) { $0 + launchesAfterRecaps(seed: $1, hasConflicts: true) }
        #expect(launched > 100)
    }

    private func launchesAfterRecaps(seed: Int, hasConflicts: Bool = false) -> Int {
        let host = RandomHost(seed: UInt64(seed), hasConflicts: hasConflicts)
        var recaps: [(index: Int, at: Moment, events: [SchedulerEvent])] = []
        for _ in 0..<600 {
            host.step()
            if let events = host.scheduler.recap(at: host.moments.now().wall) {
                recaps.append((host.log.count, host.moments.now(), events))
            }
        }
        var launched = 0
        for recap in recaps.shuffled(using: &host.numbers).prefix(5) {
            var other = Scheduler()
            let first = recap.events.flatMap { other.handle($0, at: recap.at) }
            #expect(Self.launches(first) == [], "seed \(seed)")
            for entry in host.log[recap.index...] {
                let launches = Self.launches(other.handle(entry.event, at: entry.at))
                launched += launches.count
                guard launches == Self.launches(entry.actions) else {
                    Issue.record("seed \(seed), recap at \(recap.index): \(entry.event): \(launches)")
                    break
                }
            }
        }
        return launched
    }

    @Test func `there is no recap while something is under way`() throws {
        let host = RandomHost(seed: 1)
        while host.launchCount == 0 { host.step() }
        #expect(host.scheduler.recap(at: host.moments.now().wall) == nil)
        #expect(Scheduler().recap(at: VirtualMoments().now().wall) == nil)
    }
}
