import MemoryStore
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// Transfers whose complete files can't be put into their places.
@Suite struct TransferDeliveryTests {
    private static let full = TransferFailure(.notDelivered, "the disk is full")

    @Test func `a transfer whose time ends during its delivery fails when that fails`() throws {
        var world = TransferWorld()
        let id = try world.submit { $0.resourceLimit = .seconds(7) }.id
        world.end(id, .finished, completed: 9)
        world.pass(.seconds(10))
        #expect(world[id]?.state == .finishing)
        world.give(.transfers([.delivered(id, Self.full)]))
        #expect(world[id]?.outcome == .failed)
        #expect(world[id]?.failure?.code == TransferFailure.HostCode.timedOut.rawValue)
        #expect(!world.core.transfers.hasOpen)
    }

    /// With another transfer under way, nothing looked at their deadlines again, so they made attempts for
    /// ever.
    @Test func `each of several late deliveries that fail ends its transfer`() throws {
        var world = TransferWorld()
        let ids = try (1...3).map { number in
            try world.submit("http://s\(number)/x") { $0.resourceLimit = .seconds(7 + number) }.id
        }
        let other = try world.submit().id
        for id in ids { world.end(id, .finished, completed: 9) }
        world.pass(.seconds(20))
        for id in ids { world.give(.transfers([.delivered(id, Self.full)])) }
        #expect(ids.map { world[$0]?.outcome } == [.failed, .failed, .failed])
        #expect(world[other]?.state == .running)
        #expect(world.alarm.boot.map { $0 > world.now.boot } ?? true)
    }

    @Test func `waits after deliveries that fail double, and a success ends the row`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        var waits: [Int64] = []
        for _ in 0..<10 {
            world.end(id, .finished, completed: 9)
            world.give(.transfers([.delivered(id, Self.full)]))
            let next = try #require(world[id]?.notBefore)
            waits.append((next - world.now.wall).components.seconds)
            world.pass(next - world.now.wall)
            #expect(world[id]?.state == .running)
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
        world.end(id, .finished, completed: 9)
        world.give(.transfers([.delivered(id, nil)]))
        #expect(world[id]?.outcome == .succeeded && world[id]?.failures == 0)
    }

    /// The program makes the files of an attempt when it begins it, which can be after the end.
    @Test func `the files of an attempt that ends after its transfer are removed again`() throws {
        var world = TransferWorld()
        let id = try world.submit { $0.resourceLimit = .seconds(7) }.id
        world.pass(.seconds(10))
        #expect(world[id]?.outcome == .failed)
        world.orders = []
        world.end(id, .cancelled)
        #expect(world.orders.contains { if case .remove(id) = $0 { true } else { false } })
    }

    @Test func `a place in which no file can be fails the transfer at once`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.end(id, .finished, completed: 9)
        world.give(.transfers([.delivered(id, TransferFailure(.badPlace, "a directory is there"))]))
        #expect(world[id]?.outcome == .failed)
        #expect(world[id]?.failure?.message == "a directory is there")
        #expect(world.store.facts.transfers.first?.outcome == .failed)
    }
}
