import TaskModel
import Testing

@testable import TaskHost

/// What a listener that does not keep up still gets.
@Suite struct BroadcasterTests {
    @Test func `a slow reader of the log loses the oldest lines`() async {
        let log = Broadcaster<Int>(capacity: 3, overflow: .dropsOldest)
        let stream = log.listen()
        for number in 1...5 { log.send(number) }
        log.finish()
        #expect(await stream.reduce(into: []) { $0.append($1) } == [3, 4, 5])
    }

    @Test func `a slow reader of events loses progress and nothing else`() async {
        let events = Broadcaster<HostEvent>(capacity: 3, overflow: .ends(unless: { $0.isDispensable }))
        let stream = events.listen()
        for number in 1...9 { events.send(progress(Int64(number))) }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == progress(1))
        events.send(.hostStopping)
        events.finish()
        #expect(await iterator.next() == progress(2))
        #expect(await iterator.next() == progress(3))
        #expect(await iterator.next() == .hostStopping)
        #expect(await iterator.next() == nil)
    }

    @Test func `a reader that missed more than progress is told so by the end of its stream`() async {
        let events = Broadcaster<HostEvent>(capacity: 2, overflow: .ends(unless: { $0.isDispensable }))
        let stream = events.listen()
        for number in 1...2 { events.send(progress(Int64(number))) }
        events.send(.hostStopping)
        // It has room again, but what it missed is not made up for.
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == progress(1))
        events.send(progress(7))
        #expect(await iterator.next() == progress(2))
        #expect(await iterator.next() == nil)
        #expect(!events.hasListeners)
    }

    private func progress(_ completed: Int64) -> HostEvent {
        .progress(
            LaunchID(rawValue: 1), RequestID(rawValue: 1),
            TaskProgress(completed: completed, total: 100, message: nil))
    }
}
