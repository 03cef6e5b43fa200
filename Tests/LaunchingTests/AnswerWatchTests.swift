import Testing

@testable import Launching

@Suite struct AnswerWatchTests {
    private var watch = AnswerWatch(answerTime: .seconds(15))

    @Test mutating func `an order is late after the answer time, and the second look says so`() {
        #expect(watch.look(at: .zero) == .quiet)
        watch.ask(.launch(1), at: .seconds(100))
        #expect(watch.look(at: .seconds(104)) == .lookAgain(after: .seconds(11)))
        #expect(watch.look(at: .seconds(115)) == .lookAgain(after: .seconds(5)))
        #expect(watch.look(at: .seconds(120)) == .unresponsive)
    }

    @Test mutating func `answers that arrive between the two looks count`() {
        watch.ask(.launch(1), at: .zero)
        watch.ask(.launch(2), at: .zero)
        // A host that was stopped for an hour checks for late answers before it reads those that have come.
        #expect(watch.look(at: .seconds(3600)) == .lookAgain(after: .seconds(5)))
        watch.answered(.launch(1))
        watch.answered(.launch(2))
        #expect(watch.look(at: .seconds(3605)) == .quiet)
    }

    @Test mutating func `an order that came later is not late because of an earlier one`() {
        watch.ask(.launch(1), at: .zero)
        #expect(watch.look(at: .seconds(15)) == .lookAgain(after: .seconds(5)))
        watch.answered(.launch(1))
        watch.ask(.launch(2), at: .seconds(16))
        #expect(watch.look(at: .seconds(20)) == .lookAgain(after: .seconds(11)))
        #expect(watch.look(at: .seconds(31)) == .lookAgain(after: .seconds(5)))
        #expect(watch.look(at: .seconds(36)) == .unresponsive)
    }
}
