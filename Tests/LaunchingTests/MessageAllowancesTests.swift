import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// What a bundle makes the host do has a limit, which no other bundle shares.
@Suite struct MessageAllowancesTests {
    @Test func `a burst is free, and what comes after it waits for the share`() throws {
        let one = try BundleIdentifier("com.example.one")
        let other = try BundleIdentifier("com.example.other")
        var allowances = MessageAllowances(rate: .init(share: 0.25, most: .seconds(1)))
        #expect(allowances.spend(.seconds(1), of: one, at: .seconds(100)) == nil)
        #expect(allowances.spend(.milliseconds(100), of: one, at: .seconds(100)) == .milliseconds(400))
        #expect(allowances.spend(.milliseconds(100), of: other, at: .seconds(100)) == nil)
        // A quarter of a second later, a sixteenth of a second of the work is earned.
        #expect(allowances.spend(.zero, of: one, at: .milliseconds(100_200)) == .milliseconds(200))
        #expect(allowances.spend(.zero, of: one, at: .milliseconds(100_400)) == nil)
        // After a long pause, there is as much as at the beginning, and no more.
        #expect(allowances.spend(.seconds(1), of: one, at: .seconds(1000)) == nil)
        #expect(allowances.spend(.milliseconds(1), of: one, at: .seconds(1000)) == .milliseconds(4))
    }

    @Test func `what the host keeps of a launch's output fits into the burst`() {
        let mostLines = OutputLines.maximumTotal / OutputLines.leastCost
        #expect(MessageCost.line * mostLines * 3 < MessageAllowances.Rate().most)
    }
}
