import Testing

@testable import Launching

@Suite struct TidyingTimeTests {
    private let time = TidyingTime(completedAt: .seconds(100))

    @Test func `a task exits within 5 s, or has 35 s in all with an assertion, also with a late one`() {
        #expect(time.left(holdsAssertion: false, at: .seconds(100)) == .seconds(5))
        #expect(time.left(holdsAssertion: true, at: .seconds(100)) == .seconds(35))
        // SDKs begin one for work that they notice only after the completion.
        #expect(time.left(holdsAssertion: true, at: .seconds(102)) == .seconds(33))
        #expect(time.left(holdsAssertion: false, at: .seconds(110)) == .seconds(5))
    }

    @Test func `assertions that begin and end again and again do not keep a task for longer`() {
        #expect(time.left(holdsAssertion: false, at: .seconds(133)) == .seconds(2))
        #expect(time.left(holdsAssertion: true, at: .seconds(134)) == .seconds(1))
        #expect(time.left(holdsAssertion: true, at: .seconds(140)) == .zero)
    }
}
