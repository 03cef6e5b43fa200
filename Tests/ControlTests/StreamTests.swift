import NIOCore
import Synchronization
import TaskModel
import Testing

@testable import ControlServer

/// The queue of a client that follows a stream, and what happens if the client reads too slowly.
@Suite(.timeLimit(.minutes(1))) struct StreamTests {
    @Test func `a slow client loses progress and nothing else`() async throws {
        let host = ScriptedHost()
        let feed = EventFeed(of: host)
        let (queue, frames) = FrameQueue.make(limit: 3)
        feed.add(queue)
        for number in 1...9 { host.send(Self.progress(Int64(number))) }
        var iterator = frames.makeAsyncIterator()
        #expect(try await Self.text(iterator.next()) == Self.text(of: Self.progress(1)))
        host.send(.hostStopping)
        host.endEvents()
        for event in [Self.progress(2), Self.progress(3), .hostStopping] {
            #expect(try await Self.text(iterator.next()) == Self.text(of: event))
        }
        #expect(await iterator.next() == nil)
    }

    @Test func `the stream of a client that missed more than progress ends, and the host hears of it`()
        async throws
    {
        let host = ScriptedHost()
        let feed = EventFeed(of: host)
        let (queue, frames) = FrameQueue.make(limit: 2)
        feed.add(queue)
        for number in 1...2 { host.send(Self.progress(Int64(number))) }
        #expect(host.isFollowed)
        host.send(.hostStopping)
        #expect(!host.isFollowed)
        // The queue has room again, but it has ended, because it was full when the last event came.
        var iterator = frames.makeAsyncIterator()
        #expect(try await Self.text(iterator.next()) == Self.text(of: Self.progress(1)))
        host.send(Self.progress(7))
        #expect(try await Self.text(iterator.next()) == Self.text(of: Self.progress(2)))
        #expect(await iterator.next() == nil)
    }

    @Test func `an event is encoded once for all who follow, and only if one of them sends it`()
        async throws
    {
        let host = ScriptedHost()
        let feed = EventFeed(of: host)
        let followers = (0..<3).map { _ in FrameQueue.make(limit: 1) }
        for follower in followers { feed.add(follower.queue) }
        // The control server follows the host only once, however many clients there are.
        #expect(host.asked.filter { $0 == "events" }.count == 1)
        host.send(Self.progress(1))
        host.send(Self.progress(2))
        var seen: [StreamFrame] = []
        for follower in followers {
            var iterator = follower.frames.makeAsyncIterator()
            seen.append(try #require(await iterator.next()))
        }
        #expect(seen.allSatisfy { $0 === seen[0] })

        let encodings = Mutex(0)
        let frame = StreamFrame {
            encodings.withLock { $0 += 1 }
            return ByteBuffer(string: "x")
        }
        #expect(encodings.withLock { $0 } == 0)
        for _ in 0..<3 { #expect(try frame.text() == ByteBuffer(string: "x")) }
        #expect(encodings.withLock { $0 } == 1)
    }

    @Test func `the host is followed while there is a client, and again when one comes back`() async throws {
        let host = ScriptedHost()
        let feed = EventFeed(of: host)
        for _ in 0..<2 {
            do {
                let (queue, frames) = FrameQueue.make(limit: 4)
                feed.add(queue)
                #expect(host.isFollowed)
                withExtendedLifetime(frames) {}
            }
            // The connection has released the frames.
            #expect(!host.isFollowed)
        }
    }

    private static func progress(_ completed: Int64) -> HostEvent {
        .progress(
            LaunchID(rawValue: 1), RequestID(rawValue: 1),
            TaskProgress(completed: completed, total: 100, message: nil))
    }

    private static func text(_ frame: StreamFrame?) throws -> String {
        String(buffer: try #require(frame).text())
    }

    private static func text(of event: HostEvent) throws -> String { try text(StreamFrame(event)) }
}
