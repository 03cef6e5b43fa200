import Testing

@testable import Launching

@Suite struct ThreadGrowthTests {
    /// The answers to these numbers, one after the other.
    private func answers(to counts: [UInt16]) -> [Bool] {
        var growth = ThreadGrowth()
        return counts.map { growth.hasGrown(to: $0, beyond: 100) }
    }

    @Test func `it grows from the least number since the last alarm, not from the last number`() {
        #expect(
            answers(to: [500, 560, 600, 601, 701, 300, 401])
                == [false, false, false, true, false, false, true])
    }

    @Test func `the kernel's number goes on after 65,535 with 0`() {
        #expect(answers(to: [65_500, 64, 65, 65_530]) == [false, false, true, false])
    }
}
