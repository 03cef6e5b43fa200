import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct ScoreTests {
    /// A rig in which no condition vetoes a refresh, but its score is low: on battery at 30 %, with an active
    /// user.
    static func rig() -> SchedulerRig {
        let rig = SchedulerRig()
        rig.change {
            $0.power = PolicyTests.battery(30)
            $0.user = .known(.active)
        }
        return rig
    }

    @Test
    func
        `in poor conditions a request waits until the falling threshold meets its score, to the millisecond`()
        throws
    {
        let rig = Self.rig()
        let id = rig.submit("refresh")
        #expect(rig.take() == [])
        let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
        let (score, threshold) = try (#require(explanation.score), #require(explanation.threshold))
        #expect(score < threshold)
        #expect(explanation.vetoes.map(\.policy) == ["Score"])
        let date = try #require(explanation.scoreSuffices)
        #expect(rig.wake == Wake(wall: date))
        rig.advance(date - rig.now.wall - .milliseconds(1))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `at its deadline any score suffices`() {
        var settings = SchedulerSettings()
        settings.scoreThreshold = 1
        let rig = SchedulerRig(settings: settings)
        rig.change {
            $0 = Conditions(
                power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
                pressure: .unknown, gpu: .unknown)
        }
        rig.store(
            TaskSubmission(identifier: .sample("refresh"), origin: .schedule),
            deadline: rig.now.wall + .seconds(60))
        #expect(rig.take() == [])
        rig.advance(.seconds(60))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `what is forgotten at midnight raises the score at midnight`() throws {
        let rig = SchedulerRig(unstarted: ())
        let today = rig.now.wall.sinceEpoch.components.seconds / 86_400
        var state = BundleState()
        state.conduct.days = [ConductLedger.Day(day: today - 6, points: -75)]
        rig.send(.bundleRestored(.sample, state))
        rig.send(.handlersChanged([.sample]))
        rig.send(.started)
        rig.change {
            $0.power = PolicyTests.battery(30)
            $0.user = .known(.active)
        }
        let id = rig.submit("refresh")
        let midnight = WallTime(sinceEpoch: .seconds((today + 1) * 86_400))
        #expect(try #require(rig.scheduler.explain(id, at: rig.now)?.scoreSuffices) > midnight)
        #expect(rig.launched() == [])
        rig.advance(midnight - rig.now.wall - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `better conditions start it at once`() {
        let rig = Self.rig()
        rig.submit("refresh")
        #expect(rig.take() == [])
        rig.change { $0.power = .known(.mains) }
        #expect(rig.launched() == ["com.example.a.refresh"])
        #expect(rig.wake == Wake())
    }

    @Test func `what a user asked for has no score`() throws {
        let rig = Self.rig()
        rig.submit("export.film")
        guard case .launch(_, _, _, let explanation)? = rig.take().first else {
            Issue.record("not launched")
            return
        }
        #expect(explanation.score == nil)
        #expect(explanation.threshold == nil)
    }

    @Test func `a request begins early beside work that starts anyway, and the wake-up saved is counted`() {
        let rig = Self.rig()
        rig.change { $0.power = PolicyTests.battery(40) }
        var settings = SchedulerSettings()
        settings.scoreThreshold = 0.62
        rig.send(.settingsChanged(settings))
        rig.submit("refresh")
        #expect(rig.take() == [])
        rig.submit("export.film")
        #expect(rig.launched() == ["com.example.a.export.film", "com.example.a.refresh"])
        #expect(rig.scheduler.bundleState(.sample).wakeUpsSaved == 1)
    }

    @Test func `the mean is the weighted mean of those that have an opinion`() throws {
        let rig = Self.rig()
        let id = rig.submit("refresh")
        let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
        let counted = explanation.verdicts.filter { $0.weight > 0 }
        let sum = counted.reduce(0) { $0 + $1.score * $1.weight }
        let weight = counted.reduce(0) { $0 + $1.weight }
        #expect(abs(try #require(explanation.score) - sum / weight) < 1e-12)
        #expect(!counted.contains { $0.policy == "Network" || $0.policy == "Usage" })
    }

    /// One of the configurable scores, the policy that gives it, and the conditions in which the policy does.
    struct Case: Sendable {
        let policy: String
        let score: any WritableKeyPath<PolicyScores, Double> & Sendable
        let change: @Sendable (inout Conditions) -> Void
    }

    @Test(arguments: [
        Case(policy: "ExternalPower", score: \.externalPowerMissing) { $0.power = PolicyTests.battery(50) },
        Case(policy: "ExternalPower", score: \.externalPowerMissing) { $0.power = .unknown },
        Case(policy: "BatteryLevel", score: \.batteryUnknown) { $0.power = .unknown },
        Case(policy: "BatteryLevel", score: \.batteryUnknown) { $0.power = PolicyTests.battery(nil) },
        Case(policy: "Network", score: \.networkMetered) { $0.network = .known(.metered) },
        Case(policy: "Thermal", score: \.thermalFair) { $0.thermal = .known(.fair) },
        Case(policy: "Thermal", score: \.thermalFair) { $0.thermal = .unknown },
        Case(policy: "DeviceActivity", score: \.userActive) { $0.user = .known(.active) },
        Case(policy: "DeviceActivity", score: \.userActive) { $0.user = .unknown },
        Case(policy: "Pressure", score: \.pressureUnknown) { $0.pressure = .unknown },
        Case(policy: "LowPowerMode", score: \.lowPowerModeUnknown) { $0.lowPowerMode = .unknown },
        Case(policy: "Coalescing", score: \.nothingRunning) { _ in },
    ])
    func `a score is the number that is set for it`(test: Case) throws {
        for number in [nil, 0.85] {
            var settings = SchedulerSettings()
            // The score stays below this threshold, so the request stays pending and can be explained.
            settings.scoreThreshold = 1
            if let number { settings.scores[keyPath: test.score] = number }
            let rig = SchedulerRig(settings: settings)
            rig.change {
                $0.user = .known(.active)
                test.change(&$0)
            }
            let id = rig.submit("refresh") { $0.requiresNetworkConnectivity = true }
            let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
            let verdict = try #require(explanation.verdicts.first { $0.policy == test.policy })
            #expect(verdict.score == settings.scores[keyPath: test.score])
            #expect(verdict.weight > 0)
        }
    }

    @Test func `a score that is set decides when a request starts`() {
        let rig = Self.rig()
        rig.submit("refresh")
        #expect(rig.take() == [])
        var settings = SchedulerSettings()
        settings.scores.userActive = 1
        rig.send(.settingsChanged(settings))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `a request from before the clock was set back begins beside other work all the same`() throws {
        let rig = SchedulerRig()
        let id = rig.submit("refresh")
        let request = try #require(rig.stored[id])
        let threshold = Threshold(request, rig.scheduler.settings)
        let before = request.submittedAt + .seconds(-7200)
        #expect(threshold.isMet(by: 0.7, at: before))
        #expect(threshold.date(for: 0.7) < before)
        #expect(!threshold.isMet(by: 0.5, at: before))
        #expect(threshold.date(for: 0.5) > request.submittedAt)
    }
}
