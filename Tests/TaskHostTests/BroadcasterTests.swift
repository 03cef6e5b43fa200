import Logging
import Synchronization
import TaskModel
import Testing

@testable import TaskHost

/// What a slow listener still receives.
@Suite struct BroadcasterTests {
    /// What a listener got; `nil` is the end.
    private final class Heard<Value: Sendable>: Sendable {
        private let values = Mutex<[Value?]>([])
        var all: [Value?] { values.withLock { $0 } }
        func take(_ value: Value?) { values.withLock { $0.append(value) } }
    }

    @Test func `each listener gets each value at once, from when it comes until it goes`() {
        let numbers = Broadcaster<Int>()
        let (first, second) = (Heard<Int>(), Heard<Int>())
        #expect(!numbers.hasListeners)
        let stopFirst = numbers.listen { first.take($0) }
        numbers.send(1)
        let stopSecond = numbers.listen { second.take($0) }
        numbers.send(2)
        #expect(first.all == [1, 2])
        stopFirst()
        stopFirst()
        numbers.send(3)
        #expect(numbers.hasListeners)
        stopSecond()
        #expect(!numbers.hasListeners)
        numbers.send(4)
        #expect(first.all == [1, 2])
        #expect(second.all == [2, 3])
    }

    @Test func `the end is said once, and nothing comes after it`() {
        let numbers = Broadcaster<Int>()
        let heard = Heard<Int>()
        let stop = numbers.listen { heard.take($0) }
        numbers.send(1)
        numbers.finish()
        numbers.finish()
        numbers.send(2)
        stop()
        #expect(heard.all == [1, nil])
    }

    @Test func `a listener may end itself while it gets a value`() {
        let numbers = Broadcaster<Int>()
        let heard = Heard<Int>()
        let stop = Mutex<(@Sendable () -> Void)?>(nil)
        let end = numbers.listen { value in
            heard.take(value)
            stop.withLock { $0 }?()
        }
        stop.withLock { $0 = end }
        numbers.send(1)
        numbers.send(2)
        #expect(heard.all == [1])
    }

    @Test func `a follower of the log gets every line once, remembered or new, whoever writes it`() async {
        let log = HostLog(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, moments: Stopped())
        let heard = Heard<LogLine>()
        let remembered = await withTaskGroup(of: Void.self) { writers in
            for writer in 0..<4 {
                writers.addTask { for line in 0..<500 { log.append(.info, "\(writer) \(line)") } }
            }
            while log.remembered().count < 100 { await Task.yield() }
            return log.follow { heard.take($0) }.remembered
        }
        log.finish()
        let lines = (remembered + heard.all.compactMap(\.self)).map(\.message)
        #expect(lines.count == 2000)
        #expect(Set(lines).count == 2000)
        #expect(heard.all.last == .some(nil))
    }

    private struct Stopped: MomentSource {
        func now() -> Moment {
            Moment(boot: .zero, monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000))
        }
    }
}
