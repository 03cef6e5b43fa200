import MemoryStore
import TaskModel
import Testing

@testable import HostCore

/// Transfers that end, or are refused, in one input.
@Suite struct TransferTogetherTests {
    /// Each write costs a savepoint and an answer.
    @Test func `ends that are reported together share one write`() throws {
        var world = TransferWorld()
        let ids = try (0..<5).map { try world.submit("http://a/\($0)").id }
        world.give(
            .transfers(ids.map { .ended($0, TransferWorld.attemptEnd(.refused), received: 1, sent: 0) }))
        #expect(ids.allSatisfy { world[$0]?.outcome == .refused })
        #expect(world.store.facts.transfers.filter { $0.outcome == .refused }.count == 5)
        #expect(world.writesOfEnds == 1)
    }

    @Test func `ends that the store refuses together are stored one by one later`() throws {
        var world = TransferWorld()
        let ids = try (0..<3).map { try world.submit("http://a/\($0)").id }
        world.failures = [
            .store(StoreError(code: .diskFull, subject: "disk", finding: "full", remedy: "free some"))
        ]
        world.give(
            .transfers(ids.map { .ended($0, TransferWorld.attemptEnd(.refused), received: 1, sent: 0) }))
        #expect(world.store.facts.transfers.allSatisfy { $0.outcome == nil })
        #expect(world.events.allSatisfy { $0.state != .ended })
        #expect(world.writesOfEnds == 1)
        world.pass(.seconds(5))
        #expect(world.store.facts.transfers.allSatisfy { $0.outcome == .refused })
        #expect(world.writesOfEnds == 1 + 3)
    }

    /// A program that submits refused requests again and again would otherwise use up numbers.
    @Test func `a refused download uses up no number`() throws {
        var world = TransferWorld()
        let first = try world.submit { $0.file = "/a" }
        #expect(throws: SubmissionError.self) { try world.submit { $0.file = "/a" } }
        #expect(try world.submit().id.rawValue == first.id.rawValue + 1)
    }
}
