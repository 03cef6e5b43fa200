@_exported public import Foundation
import BackgroundTasks

/// Writes messages to the host's log, with a subsystem and a category by which `bgtask logs --subsystem` can
/// filter.
///
/// In a process without a host, messages go to standard error. You can use a logger from any thread.
public struct Logger: Sendable {
    let log: OSLog

    /// Creates a logger without a subsystem and a category.
    public init() { log = .default }

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - subsystem: The subsystem, usually the bundle's identifier.
    ///   - category: A part of the subsystem.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a logger with the subsystem and category of a log.
    ///
    /// - Parameter logObj: The log.
    public init(_ logObj: OSLog) { log = logObj }

    /// Writes a message with the level notice, for changes that a user may want to know about.
    public func log(_ message: OSLogMessage) { log.write(.notice, message.text) }
    /// Writes a message with the given level.
    public func log(level: OSLogType, _ message: OSLogMessage) {
        log.write(level.level, as: level, message.text)
    }
    /// Writes a message with the level debug, for the smallest details.
    public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }
    /// Writes a message with the level debug, for developers.
    public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }
    /// Writes a message with the level info, for the normal course of events.
    public func info(_ message: OSLogMessage) { log.write(.info, message.text) }
    /// Writes a message with the level notice, for changes that a user may want to know about.
    public func notice(_ message: OSLogMessage) { log.write(.notice, message.text) }
    /// Writes a message with the level warning, for problems that the program could handle.
    public func warning(_ message: OSLogMessage) { log.write(.warning, message.text) }
    /// Writes a message with the level error, for problems that a person must fix.
    public func error(_ message: OSLogMessage) { log.write(.error, message.text) }
    /// Writes a message with the level error, for problems that a person must fix immediately.
    public func critical(_ message: OSLogMessage) { log.write(.error, as: .fault, message.text) }
    /// Writes a message with the level error, for bugs in the program.
    public func fault(_ message: OSLogMessage) { log.write(.error, as: .fault, message.text) }
}

/// A destination of log messages: a subsystem and a category.
open class OSLog: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// The subsystem, usually the bundle's identifier; `nil` if there is none.
    package let subsystem: String?
    /// A part of the subsystem; `nil` if there is none.
    package let category: String?
    private let isDisabled: Bool

    /// A log without a subsystem and a category.
    public static let `default` = OSLog(nil, nil)
    /// A log that discards all messages.
    public static let disabled = OSLog(nil, nil, isDisabled: true)

    private init(_ subsystem: String?, _ category: String?, isDisabled: Bool = false) {
        self.subsystem = subsystem
        self.category = category
        self.isDisabled = isDisabled
        super.init()
    }

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - subsystem: The subsystem, usually the bundle's identifier.
    ///   - category: A part of the subsystem.
    public convenience init(subsystem: String, category: String) { self.init(subsystem, category) }

    /// Creates a log with a predefined category.
    ///
    /// - Parameters:
    ///   - subsystem: The subsystem, usually the bundle's identifier.
    ///   - category: The predefined category.
    public convenience init(subsystem: String, category: Category) { self.init(subsystem, category.rawValue) }

    /// The predefined categories.
    public struct Category: Sendable {
        let rawValue: String
        /// For signposts at points of interest.
        public static let pointsOfInterest = Self(rawValue: "PointsOfInterest")
        /// For signposts that Apple's systems write only while a tracing tool runs; here, they are always
        /// written.
        public static let dynamicTracing = Self(rawValue: "DynamicTracing")
    }

    /// Whether the log writes messages of a type.
    ///
    /// - Parameter type: The type; not used.
    /// - Returns: `false` only for ``disabled``, because the host filters messages by level.
    open func isEnabled(type: OSLogType) -> Bool { !isDisabled }

    /// Whether signposts are written; `false` only for ``disabled``.
    open var signpostsEnabled: Bool { !isDisabled }

    /// Keeps a message, and sends it to the host.
    ///
    /// - Parameters:
    ///   - level: The level in the host's log.
    ///   - type: Apple's type of the message, if more than one has this level.
    ///   - text: The message, without private values.
    func write(_ level: LogLevel, as type: OSLogType? = nil, _ text: String) {
        guard !isDisabled else { return }
        LogMemory.shared.add(
            LogMemory.Entry(
                date: App.shared.host.now, type: type ?? OSLogType(level), subsystem: subsystem ?? "",
                category: category ?? "", text: text, thread: UInt64(pthread_self())))
        App.shared.host.log(level, subsystem: subsystem, category: category, text)
    }
}
