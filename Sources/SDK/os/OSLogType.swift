import BackgroundTasks

/// How important a message is.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt8
    /// Wraps a number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Wraps a number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// A change that people may ask about.
    public static let `default` = Self(0)
    /// The ordinary course.
    public static let info = Self(1)
    /// For developers.
    public static let debug = Self(2)
    /// A person must act.
    public static let error = Self(16)
    /// A mistake in the code.
    public static let fault = Self(17)

    /// The host's word for it.
    var level: LogLevel {
        switch self {
        case .debug: .debug
        case .info: .info
        case .error, .fault: .error
        default: .notice
        }
    }
}
