import BackgroundTasks
import Foundation
import Synchronization

/// Distinguishes intervals with the same name.
public struct OSSignpostID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Wraps a number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    /// A new one.
    public init(log: OSLog) { rawValue = Self.next.wrappingAdd(1, ordering: .relaxed).newValue }
    /// For intervals that do not overlap.
    public static let exclusive = Self(0xEEEE_B0B5_B2B2_EEEE)
    /// None.
    public static let invalid = Self(UInt64.max)
    /// None.
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

/// Writes how long things take, as lines of the level debug: `interval decode: 12.3 ms`.
///
/// Callable from any thread.
public struct OSSignposter: Sendable {
    private let log: OSLog

    /// Writes without names.
    public init() { log = .default }

    /// Writes under names.
    ///
    /// - Parameters:
    ///   - subsystem: Most often the bundle's id.
    ///   - category: A part of it.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Writes under the names of a log.
    ///
    /// - Parameter logHandle: The log.
    public init(logHandle: OSLog) { log = logHandle }

    /// Writes under the names of a logger.
    ///
    /// - Parameter logger: The logger.
    public init(logger: Logger) { log = logger.log }

    /// Writes nothing.
    public static let disabled = Self(logHandle: .disabled)

    /// Whether intervals are written: all but those of ``disabled``, the host filters by level.
    public var isEnabled: Bool { log.isEnabled(type: .debug) }

    /// A new number.
    ///
    /// - Returns: One that was not given before.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: log) }

    /// Begins an interval.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    /// - Returns: What ``endInterval(_:_:)`` ends.
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState
    {
        OSSignpostIntervalState(id)
    }

    /// Begins an interval, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    ///   - message: Written now.
    /// - Returns: What ``endInterval(_:_:)`` ends.
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage
    ) -> OSSignpostIntervalState {
        log.write(.debug, "interval \(name) begins: \(message.text)")
        return OSSignpostIntervalState(id)
    }

    /// Ends an interval.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - state: What began it.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {
        write(name, state, "")
    }

    /// Ends an interval, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - state: What began it.
    ///   - message: Written behind the time.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: OSLogMessage) {
        write(name, state, ": " + message.text)
    }

    /// Writes that something has happened.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {
        log.write(.debug, "event \(name)")
    }

    /// Writes that something has happened, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    ///   - message: Written behind the name.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) {
        log.write(.debug, "event \(name): \(message.text)")
    }

    /// Runs a closure as an interval.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    ///   - task: The closure.
    /// - Returns: What the closure returned.
    public func withIntervalSignpost<Answer>(
        _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> Answer
    ) rethrows -> Answer {
        let state = beginInterval(name, id: id)
        defer { endInterval(name, state) }
        return try task()
    }

    /// Runs a closure as an interval, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Distinguishes it from others with the same name.
    ///   - message: Written when it begins.
    ///   - task: The closure.
    /// - Returns: What the closure returned.
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
