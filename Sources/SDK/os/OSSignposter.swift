import BackgroundTasks
import Foundation
import Synchronization

/// Distinguishes intervals and events that have the same name.
public struct OSSignpostID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Wraps a number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates an identifier that was not used before in this process.
    public init(log: OSLog) { rawValue = Self.next.wrappingAdd(1, ordering: .relaxed).newValue }
    /// The identifier for intervals that do not overlap with others of the same name.
    public static let exclusive = Self(0xEEEE_B0B5_B2B2_EEEE)
    /// An identifier that is not valid.
    public static let invalid = Self(UInt64.max)
    /// The null identifier.
    public static let null = Self(0)
    /// Orders by number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    private static let next = Atomic<UInt64>(0)
}

/// An interval that has begun.
public final class OSSignpostIntervalState: Sendable {
    let id: OSSignpostID
    let begun = ContinuousClock.now

    init(_ id: OSSignpostID) { self.id = id }
}

/// Writes the duration of intervals to the log, with the level debug: `interval decode: 12.3 ms`.
///
/// You can use it from any thread.
public struct OSSignposter: Sendable {
    private let log: OSLog

    /// Creates a signposter without a subsystem and a category.
    public init() { log = .default }

    /// Creates a signposter.
    ///
    /// - Parameters:
    ///   - subsystem: The subsystem, usually the bundle's identifier.
    ///   - category: A part of the subsystem.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a signposter with the subsystem and category of a log.
    ///
    /// - Parameter logHandle: The log.
    public init(logHandle: OSLog) { log = logHandle }

    /// Creates a signposter with the subsystem and category of a logger.
    ///
    /// - Parameter logger: The logger.
    public init(logger: Logger) { log = logger.log }

    /// A signposter that writes nothing.
    public static let disabled = Self(logHandle: .disabled)

    /// Whether intervals and events are written; `false` only for ``disabled``, because the host filters by
    /// level.
    public var isEnabled: Bool { log.isEnabled(type: .debug) }

    /// Creates an identifier for an interval.
    ///
    /// - Returns: An identifier that was not used before in this process.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: log) }

    /// Begins an interval.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - id: Distinguishes the interval from others with the same name.
    /// - Returns: The state for ``endInterval(_:_:)``.
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState
    {
        OSSignpostIntervalState(id)
    }

    /// Begins an interval and writes a message.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - id: Distinguishes the interval from others with the same name.
    ///   - message: The message, which is written immediately.
    /// - Returns: The state for ``endInterval(_:_:)``.
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage
    ) -> OSSignpostIntervalState {
        log.write(.debug, "interval \(name) begins: \(message.text)")
        return OSSignpostIntervalState(id)
    }

    /// Ends an interval and writes its duration.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - state: The state from `beginInterval`.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {
        write(name, state, "")
    }

    /// Ends an interval and writes its duration and a message.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - state: The state from `beginInterval`.
    ///   - message: The message, which follows the duration.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: OSLogMessage) {
        write(name, state, ": " + message.text)
    }

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - id: Not used.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {
        log.write(.debug, "event \(name)")
    }

    /// Writes an event with a message.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - id: Not used.
    ///   - message: The message, which follows the name.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) {
        log.write(.debug, "event \(name): \(message.text)")
    }

    /// Runs a closure as an interval.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - id: Distinguishes the interval from others with the same name.
    ///   - task: The closure.
    /// - Returns: The value that the closure returned.
    public func withIntervalSignpost<Answer>(
        _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> Answer
    ) rethrows -> Answer {
        let state = beginInterval(name, id: id)
        defer { endInterval(name, state) }
        return try task()
    }

    /// Runs a closure as an interval, and writes a message.
    ///
    /// - Parameters:
    ///   - name: The name of the interval.
    ///   - id: Distinguishes the interval from others with the same name.
    ///   - message: The message, which is written when the interval begins.
    ///   - task: The closure.
    /// - Returns: The value that the closure returned.
    public func withIntervalSignpost<Answer>(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage,
        around task: () throws -> Answer
    ) rethrows -> Answer {
        let state = beginInterval(name, id: id, message)
        defer { endInterval(name, state) }
        return try task()
    }

    private func write(_ name: StaticString, _ state: OSSignpostIntervalState, _ tail: String) {
        let time = state.begun.duration(to: .now)
        let milliseconds = Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
        log.write(.debug, "interval \(name): \(String(format: "%.3f", milliseconds)) ms\(tail)")
    }
}
