/// One line of the host's log: its own, a handler's message, or a line that a handler printed.
public struct LogLine: Equatable, Sendable {
    /// How important it is.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// For developers.
        case debug
        /// The ordinary course.
        case info
        /// A change that a user asked about.
        case notice
        /// The host coped.
        case warning
        /// A person must act.
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

    /// Where it comes from.
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

    /// When the host got it.
    public var at: WallTime
    /// How important it is; output of a handler is `info`.
    public var level: Level
    /// Where it comes from.
    public var source: Source
    /// The launch it is about; `nil` if none.
    public var launch: LaunchID?
    /// The task it is about; `nil` if none.
    public var identifier: TaskIdentifier?
    /// The text, without control characters and within the capture's cap.
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
