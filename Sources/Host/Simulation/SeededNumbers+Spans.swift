import TaskModel

extension SeededNumbers {
    /// A time span between two others, in whole milliseconds.
    mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        .milliseconds(
            Int64.random(
                in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds, using: &self))
    }

    /// True that often, 0 through 1.
    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
}
