/// Tells, from the number of all threads of the machine, when the threads of launches must be counted.
///
/// To count them takes a file for each launch; to read the machine's number takes one system call, so it can
/// be read often enough to notice a launch that makes 17,000 threads in a second.
struct ThreadGrowth: Sendable {
    /// How often the machine's threads are counted: our choice.
    static let interval = Duration.milliseconds(50)

    /// The number from which growth counts; `nil` before the first one.
    private var base: UInt16?

    /// Records the number of the machine's threads, modulo 65,536.
    ///
    /// - Returns: Whether there are more than `limit` threads more than at some time since the last `true`.
    mutating func hasGrown(to count: UInt16, beyond limit: Int) -> Bool {
        let grown = Int(Int16(bitPattern: count &- (base ?? count)))
        if base == nil || grown < 0 || grown > limit { base = count }
        return grown > limit
    }
}
