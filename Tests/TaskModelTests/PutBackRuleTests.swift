import TaskModel
import Testing

@Suite struct PutBackRuleTests {
    @Test func `only a launch that was lost, or expired without completing, goes back`() {
        for outcome in Outcome.allCases {
            for completed in [false, true] {
                let applies = PutBackRule.applies(
                    outcome: outcome, completed: completed, expiration: .leaseEnded, isAtMostOnce: false)
                #expect(applies == (outcome == .lost || (outcome == .expired && !completed)), "\(outcome)")
            }
        }
    }

    @Test(arguments: [Outcome.lost, .expired])
    func `what the user cancelled, what has no manifest, and at-most-once tasks stay ended`(outcome: Outcome)
    {
        for reason in Reason.allCases where reason.isExpiration {
            let applies = PutBackRule.applies(
                outcome: outcome, completed: false, expiration: reason, isAtMostOnce: false)
            #expect(applies == (reason != .cancelledByUser && reason != .manifestRemoved), "\(reason)")
            #expect(
                !PutBackRule.applies(
                    outcome: outcome, completed: false, expiration: reason, isAtMostOnce: true))
        }
    }
}
