/// One line of the host's log: a message of the host or of a handler, or a line that a handler printed.
public struct LogLine: Equatable, Sendable {
    /// The importance of a line.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// For developers.
        case debug
        /// The normal course of events.
        case info
        /// A change that a user requested.
        case notice
        /// A problem that the host could handle.
        case warning
        /// A problem that a person must fix.
        case error

        /// Orders by importance: `debug` is the least.
        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .notice: 2
            case .warning: 3
            case .error: 4
            }
        }
    }

    /// Where a line comes from.
    public enum Source: String, Sendable, Codable, CaseIterable {
        /// The host itself.
        case host
        /// The handler's `log` call.
        case handler
        /// The handler's standard output.
        case standardOutput
        /// The handler's standard error.
        case standardError
    }

    /// When the host received the line.
    public var at: WallTime
    /// How important the line is; output that a handler prints is `info`.
    public var level: Level
    /// Where the line comes from.
    public var source: Source
    /// The launch that the line is about; `nil` if it is about none.
    public var launch: LaunchID?
    /// The task that the line is about; `nil` if it is about none.
    public var identifier: TaskIdentifier?
    /// The text, without control characters and cut to the maximum length.
    public var message: String
    /// The subsystem that a handler's `log` call named; `nil` if none.
    public var subsystem: String?
    /// The category that a handler's `log` call named; `nil` if none.
    public var category: String?

    public init(
        at: WallTime, level: Level, source: Source, launch: LaunchID? = nil,
        identifier: TaskIdentifier? = nil,
        message: String, subsystem: String? = nil, category: String? = nil
    ) {
        self.at = at
        self.level = level
        self.source = source
        self.launch = launch
        self.identifier = identifier
        self.message = message
        self.subsystem = subsystem
        self.category = category
    }
}
