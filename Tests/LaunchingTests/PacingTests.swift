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
    func `a flood waits, other bundles go on, and an expiration reads the rest`(_ what: String) async throws {
        let harness = try await LaunchHarness(messageRate: Self.little)
        let order = try harness.order(what)
        harness.launcher.launch(order)
        try await harness.wait(for: "a pause") { Self.isPaused(harness.sight(order.id)) }
        let other = try harness.order("succeeds", bundle: "com.example.other")
        #expect(try await harness.run(other).end?.outcome == .succeeded)
        #expect(harness.sight(order.id).end == nil)
        harness.launcher.expire(order.id, reason: .leaseEnded)
        try await harness.wait(for: "the end") { harness.sight(order.id).end != nil }
        // It has no expiration handler, and says so behind all that it sent before. Unread, it would be
        // killed.
        let end = harness.sight(order.id).end
        #expect(end?.outcome == .expired, "\(String(describing: end))")
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
}
