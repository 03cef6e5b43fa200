/// A break: nothing starts until it ends.
///
/// A user or an operator orders it. The host itself also pauses a bundle whose launches crash again and
/// again.
public struct Pause: Equatable, Hashable, Sendable, Codable {
    /// When the pause began.
    public var since: WallTime
    /// When the pause ends by itself; `nil` if only `bgtask resume` ends it.
    public var until: WallTime?
    /// How many crashes in a row made the host pause the bundle; `nil` if a person ordered the pause.
    public var crashes: Int?
    /// The hash of the library that crashed; `nil` if a person ordered the pause, or if the bundle has no
    /// library.
    ///
    /// The host ends the pause when the bundle has another library.
    public var library: String?
    /// The last launch that crashed; `nil` if a person ordered the pause, and in pauses of older hosts.
    public var launch: LaunchID?

    /// Whether what runs may end by itself (`bgtask drain`); `nil` and `false` mean that it is stopped.
    public var letsEnd: Bool?

    /// Makes a pause; without `crashes`, a person ordered it.
    public init(
        since: WallTime, until: WallTime?, crashes: Int? = nil, library: String? = nil,
        launch: LaunchID? = nil
    ) {
        self.since = since
        self.until = until
        self.crashes = crashes
        self.library = library
        self.launch = launch
    }

    /// Whether the pause has not ended at a time.
    public func isInForce(at time: WallTime) -> Bool { until.map { time < $0 } ?? true }
}
