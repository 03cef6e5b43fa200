/// Decides which refusals are logged: at most one a minute, because others can cause any number of them.
public struct RefusalGate: Sendable {
    /// When a refusal was last logged, on CLOCK_BOOTTIME, and how many came since.
    private var last: (at: Duration, count: Int)?

    /// Makes a gate that lets the next refusal through.
    public init() {}

    /// Notes a refusal.
    ///
    /// - Parameter boot: The present time on CLOCK_BOOTTIME.
    /// - Returns: The end of the line to log, which says how many refusals were not logged before it; `nil`
    ///   if this one is not logged either.
    public mutating func note(at boot: Duration) -> String? {
        if let last, boot - last.at < .seconds(60) {
            self.last = (last.at, last.count + 1)
            return nil
        }
        defer { last = (boot, 0) }
        guard let count = last?.count, count > 0 else { return "" }
        return "; \(count) more since the last such line"
    }
}
