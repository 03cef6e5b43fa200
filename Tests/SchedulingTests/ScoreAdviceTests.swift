import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The remedy of a score that is too low names what raises it, and the numbers are true.
@Suite struct ScoreAdviceTests {
    private func rig(_ threshold: Double = 0.6, _ change: (inout Conditions) -> Void) -> SchedulerRig {
        var settings = SchedulerSettings.unpaced
        settings.scoreThreshold = threshold
        let rig = SchedulerRig(settings: settings)
        rig.change(change)
        return rig
    }

    private func remedy(_ id: RequestID, _ rig: SchedulerRig) throws -> String {
        let veto = try #require(rig.scheduler.explain(id, at: rig.now)?.vetoes.first { $0.policy == "Score" })
        return try #require(veto.rationale.first?.remedy)
    }

    @Test func `on battery beside a user it names the charger and the user, each with its number`() throws {
        let rig = rig {
            $0.power = PolicyTests.battery(30)
            $0.user = .known(.active)
        }
        let id = rig.submit("refresh")
        let text = try remedy(id, rig)
        #expect(text.hasPrefix("Plug in the charger: 0.56 would become 0.75; leave the device"), "\(text)")
        #expect(text.contains("; leave the device alone for 5 min: 0.70"), "\(text)")
        #expect(text.hasSuffix(", or start it now without the policies: bgtask launch com.example.a.refresh"))
    }

    @Test func `a source that is gone is named, and no plug`() throws {
        let rig = rig {
            $0.power = .unknown
            $0.user = .known(.active)
        }
        let text = try remedy(rig.submit("refresh"), rig)
        #expect(text.contains("the source of 'power' (see bgtask conditions): "), "\(text)")
        #expect(!text.contains("lug in"), "\(text)")
    }

    @Test func `with the best conditions it names none`() throws {
        let rig = rig(1) { _ in }
        #expect(try remedy(rig.submit("refresh"), rig).hasPrefix("Wait until the limit has fallen"))
    }

    @Test(arguments: 1...40)
    func `each act gives the score that was said`(seed: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        func maybe() -> Bool { Bool.random(using: &numbers) }
        let rig = rig(1) {
            if maybe() {
                $0.power = PolicyTests.battery(maybe() ? nil : Int.random(in: 20...99, using: &numbers))
            }
            if maybe() { $0.power = .unknown }
            if maybe() { $0.user = maybe() ? .known(.active) : .unknown }
            if maybe() { $0.thermal = maybe() ? .known(.fair) : .unknown }
            if maybe() { $0.network = .known(.metered) }
            if maybe() { $0.pressure = .unknown }
            if maybe() { $0.lowPowerMode = .unknown }
        }
        let id = rig.submit("refresh") { $0.network = .any }
        let subject = rig.scheduler.situation.subject(rig.stored[id]!, isTelling: true)
        let score = try #require(rig.scheduler.judge(subject, isSimulated: false, at: rig.now).score)
        for gain in rig.scheduler.gains(for: subject, score, at: rig.now) {
            var copy = rig.scheduler
            var conditions = rig.conditions
            gain.change(&conditions)
            _ = copy.handle(.conditionsChanged(conditions), at: rig.now)
            let after = try #require(copy.judge(subject, isSimulated: false, at: rig.now).score)
            #expect(abs(after.mean - gain.mean) < 1e-9, "seed \(seed): \(gain.act)")
        }
    }

    @Test func `the remedy of a spent budget can be pasted, and helps`() throws {
        let rig = rig { _ in }
        rig.send(.budgetChanged(.sample, launches: 2, cpu: .seconds(90)))
        rig.end(rig.run("refresh"))
        rig.advance(.seconds(1800))
        let id = rig.submit("refresh")
        let veto = try #require(
            rig.scheduler.explain(id, at: rig.now)?.vetoes.first { $0.policy == "Budget" })
        #expect(
            veto.rationale.first?.remedy
                == "Raise the budget: bgtask settings budget com.example.a --launches 3")
        rig.send(.budgetChanged(.sample, launches: 3, cpu: nil))
        #expect(rig.launched().last == "com.example.a.refresh")
    }

    @Test func `with unknown power or network the remedy is to repair the source`() throws {
        let rig = rig {
            $0.power = .unknown
            $0.network = .unknown
        }
        for (name, source) in [("powered", "upower"), ("networked", "NetworkManager")] {
            let id = rig.submit(name)
            let remedy = try #require(
                rig.scheduler.explain(id, at: rig.now)?.vetoes.first?.rationale.first?.remedy)
            #expect(remedy.contains("bgtask conditions") && remedy.contains(source), "\(remedy)")
        }
    }
}
