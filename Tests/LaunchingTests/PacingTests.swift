import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// A task that sends or prints too much waits, and the host does not.
@Suite(.system) struct PacingTests {
    /// So little that a pause does not end during a test.
    private static let little = MessageAllowances.Rate(share: 1e-9, most: .milliseconds(20))

    private static func isPaused(_ sight: LaunchHarness.Sight) -> Bool {
        sight.events.contains {
            if case .log(_, .notice, let message, _, _) = $0 {
                message.contains("of a core in the host")
            } else {
                false
            }
        }
    }

    @Test(arguments: ["floods-log", "floods-stdout"])
    func `a flood waits, other bundles go on, and it ends in time`(_ what: String) async throws {
        let harness = try await LaunchHarness(messageRate: Self.little)
        let order = try harness.order(what)
        harness.launcher.launch(order)
        try await harness.wait(for: "a pause") { Self.isPaused(harness.sight(order.id)) }
        let other = try harness.order("succeeds", bundle: "com.example.other")
        #expect(try await harness.run(other).end?.outcome == .succeeded)
        #expect(harness.sight(order.id).end == nil)
        harness.launcher.expire(order.id, reason: .leaseEnded)
        try await harness.wait(for: "the end") { harness.sight(order.id).end != nil }
        // Its answer can be too far behind what it sent before.
        let end = harness.sight(order.id).end
        #expect([.expired, .killed].contains(end?.outcome), "\(String(describing: end))")
        await harness.end()
    }

    @Test func `a flood within the rate only takes longer, and loses nothing`() async throws {
        let harness = try await LaunchHarness(messageRate: .init(share: 0.05, most: .milliseconds(20)))
        let sight = try await harness.run(try harness.order("floods-log"))
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        #expect(Self.isPaused(sight))
        let lines = sight.events.count { if case .log(_, .info, _, _, _) = $0 { true } else { false } }
        #expect(lines == (1 << 20) / 1016)
        await harness.end()
    }

    @Test func `what a task leaves in its pipes counts, and its launch ends when it is read`() async throws {
        let harness = try await LaunchHarness(messageRate: .init(share: 0.2, most: .milliseconds(20)))
        // A pipe full of empty lines.
        let sight = try await harness.run(try harness.order("leaves-lines"))
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        #expect(Self.isPaused(sight))
        let lines = sight.events.count { if case .output = $0 { true } else { false } }
        // And one about the lines that were dropped.
        #expect(lines == OutputLines.maximumTotal / OutputLines.leastCost + 1)
        await harness.end()
    }
}
