import TaskModel

extension SeededNumbers {
    /// A random duration in a range, in whole milliseconds.
    mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        .milliseconds(
            Int64.random(
                in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds, using: &self))
    }

    /// True with this probability, from 0 to 1.
    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
}
