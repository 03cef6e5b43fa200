import BackgroundTasks

/// The importance of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The number, which is the same as Apple's.
    public let rawValue: UInt8
    /// Wraps a number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Wraps a number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// A change that a user may want to know about.
    public static let `default` = Self(0)
    /// The normal course of events.
    public static let info = Self(1)
    /// Details for developers.
    public static let debug = Self(2)
    /// A problem that a person must fix.
    public static let error = Self(16)
    /// A bug in the program.
    public static let fault = Self(17)

    /// Apple's type for a level of the host's log.
    init(_ level: LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .notice: .default
            case .warning, .error: .error
            }
    }

    /// The corresponding level of the host's log.
    var level: LogLevel {
        switch self {
        case .debug: .debug
        case .info: .info
        case .error, .fault: .error
        default: .notice
        }
    }
}
