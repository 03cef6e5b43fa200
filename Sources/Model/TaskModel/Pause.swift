/// A break that a user or an operator ordered: nothing starts until it ends.
public struct Pause: Equatable, Hashable, Sendable, Codable {
    /// When the pause began.
    public var since: WallTime
    /// When the pause ends by itself; `nil` if only `bgtask resume` ends it.
    public var until: WallTime?

    /// Makes a pause.
    public init(since: WallTime, until: WallTime?) {
        self.since = since
        self.until = until
    }

    /// Whether the pause has not ended at a time.
    public func isInForce(at time: WallTime) -> Bool { until.map { time < $0 } ?? true }
}
