@_exported public import Foundation
import BackgroundTasks

/// Writes messages to the host's log, under a subsystem and a category: see `bgtask logs --subsystem`.
///
/// In a process without a host they go to the standard error. Callable from any thread.
public struct Logger: Sendable {
    let log: OSLog

    /// Writes without subsystem and category.
    public init() { log = .default }

    /// Writes under names.
    ///
    /// - Parameters:
    ///   - subsystem: Most often the bundle's id.
    ///   - category: A part of it.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Writes under the names of a log.
    ///
    /// - Parameter logObj: The log.
    public init(_ logObj: OSLog) { log = logObj }

    /// Writes a change that people may ask about.
    public func log(_ message: OSLogMessage) { log.write(.notice, message.text) }
    /// Writes at a level.
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level.level, message.text) }
    /// Writes the smallest details.
    public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }
    /// Writes details for developers.
    public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }
    /// Writes the ordinary course.
    public func info(_ message: OSLogMessage) { log.write(.info, message.text) }
    /// Writes a change that people may ask about.
    public func notice(_ message: OSLogMessage) { log.write(.notice, message.text) }
    /// Writes what the program coped with.
    public func warning(_ message: OSLogMessage) { log.write(.warning, message.text) }
    /// Writes a problem that a person must fix.
    public func error(_ message: OSLogMessage) { log.write(.error, message.text) }
    /// Writes a problem that a person must fix now.
    public func critical(_ message: OSLogMessage) { log.write(.error, message.text) }
    /// Writes a mistake in the code.
    public func fault(_ message: OSLogMessage) { log.write(.error, message.text) }
}

/// A subsystem and a category.
open class OSLog: NSObject, @unchecked Sendable {
    // Unchecked: nothing of it changes.

    /// Most often the bundle's id.
    package let subsystem: String?
    /// A part of it.
    package let category: String?
    private let isDisabled: Bool

    /// No names.
    public static let `default` = OSLog(nil, nil)
    /// Writes nothing.
    public static let disabled = OSLog(nil, nil, isDisabled: true)

    private init(_ subsystem: String?, _ category: String?, isDisabled: Bool = false) {
        self.subsystem = subsystem
        self.category = category
        self.isDisabled = isDisabled
        super.init()
    }

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - subsystem: Most often the bundle's id.
    ///   - category: A part of it.
    public convenience init(subsystem: String, category: String) { self.init(subsystem, category) }

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - subsystem: Most often the bundle's id.
    ///   - category: One of the system's own.
    public convenience init(subsystem: String, category: Category) { self.init(subsystem, category.rawValue) }

    /// The system's own categories.
    public struct Category: Sendable {
        let rawValue: String
        /// Signposts of interest.
        public static let pointsOfInterest = Self(rawValue: "PointsOfInterest")
        /// Signposts that only a tracing tool asks for; here they are written as all others.
        public static let dynamicTracing = Self(rawValue: "DynamicTracing")
    }

    /// Whether a message of the type is written.
    ///
    /// - Parameter type: The type.
    /// - Returns: `false` for ``disabled`` alone; the host filters by level.
    open func isEnabled(type: OSLogType) -> Bool { !isDisabled }

    /// Whether signposts are written: by all but ``disabled``.
    open var signpostsEnabled: Bool { !isDisabled }

    func write(_ level: LogLevel, _ text: String) {
        guard !isDisabled else { return }
        App.shared.host.log(level, subsystem: subsystem, category: category, text)
    }
}
