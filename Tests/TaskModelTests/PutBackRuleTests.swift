import TaskModel
import Testing

@Suite struct PutBackRuleTests {
    @Test func `only a launch that was lost, or expired without completing, goes back`() {
        for outcome in Outcome.allCases {
            for completed in [false, true] {
                let applies = PutBackRule.applies(
                    kind: .processing, outcome: outcome, completed: completed, expiration: .leaseEnded,
                    isAtMostOnce: false)
                #expect(applies == (outcome == .lost || (outcome == .expired && !completed)), "\(outcome)")
            }
        }
    }

    @Test(arguments: [Outcome.lost, .expired])
    func `what the user cancelled, what has no manifest, and at-most-once tasks stay ended`(outcome: Outcome)
    {
        for reason in Reason.allCases where reason.isExpiration {
            let applies = PutBackRule.applies(
                kind: .processing, outcome: outcome, completed: false, expiration: reason, isAtMostOnce: false
            )
            #expect(applies == (reason != .cancelledByUser && reason != .manifestRemoved), "\(reason)")
            #expect(
                !PutBackRule.applies(
                    kind: .processing, outcome: outcome, completed: false, expiration: reason,
                    isAtMostOnce: true))
        }
    }

    @Test func `the launch of an app goes back, but not after its whole lease`() {
        for (outcome, reason, isExpected) in [
            (Outcome.lost, Reason.hostDied, true), (.expired, .hostShutdown, true),
            (.expired, .leaseEnded, false), (.failed, .handlerFailed, false), (.crashed, .signal, false),
        ] {
            #expect(
                PutBackRule.applies(
                    kind: .appLaunch, outcome: outcome, completed: false, expiration: reason,
                    isAtMostOnce: false) == isExpected, "\(outcome) \(reason)")
        }
    }
}
