import BackgroundTasks
import Foundation
import Synchronization

/// Tells intervals of one name apart.
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

    /// Whether intervals are written: always, the host filters by level.
    public var isEnabled: Bool { log.isEnabled(type: .debug) }

    /// A new number.
    ///
    /// - Returns: One that was not given before.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: log) }

    /// Begins an interval.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Tells it apart from others of the name.
    /// - Returns: What ``endInterval(_:_:)`` ends.
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState
    {
        OSSignpostIntervalState(id)
    }

    /// Begins an interval, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Tells it apart from others of the name.
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
    ///   - id: Tells it apart from others of the name.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {
        log.write(.debug, "event \(name)")
    }

    /// Writes that something has happened, with a message.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Tells it apart from others of the name.
    ///   - message: Written behind the name.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) {
        log.write(.debug, "event \(name): \(message.text)")
    }

    /// Runs a closure as an interval.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - id: Tells it apart from others of the name.
    ///   - task: The closure.
    /// - Returns: What the closure returned.
    public func withIntervalSignpost<Answer>(
        _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> Answer
    ) rethrows -> Answer {
        let state = beginInterval(name, id: id)
        defer { endInterval(name, state) }
        return try task()
    }

    private func write(_ name: StaticString, _ state: OSSignpostIntervalState, _ tail: String) {
        let time = state.begun.duration(to: .now)
        let milliseconds = Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
        log.write(.debug, "interval \(name): \(String(format: "%.3f", milliseconds)) ms\(tail)")
    }
}

/// What a call of `os_signpost` says.
public enum OSSignpostType: UInt8, Sendable {
    /// Something has happened.
    case event = 0
    /// An interval begins.
    case begin = 1
    /// An interval ends.
    case end = 2
}

/// Writes an interval or an event under the names of a log.
///
/// - Parameters:
///   - type: What it says.
///   - dso: Not used.
///   - log: Its names.
///   - name: What it is called.
///   - signpostID: Tells intervals of one name apart.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive
) {
    let signposter = OSSignposter(logHandle: log)
    let key = OpenInterval(log: ObjectIdentifier(log), name: name.description, id: signpostID)
    switch type {
    case .event: signposter.emitEvent(name, id: signpostID)
    case .begin:
        let state = signposter.beginInterval(name, id: signpostID)
        openIntervals.withLock { $0[key] = state }
    case .end:
        guard let state = openIntervals.withLock({ $0.removeValue(forKey: key) }) else { return }
        signposter.endInterval(name, state)
    }
}

private struct OpenInterval: Hashable {
    let log: ObjectIdentifier
    let name: String
    let id: OSSignpostID
}

private let openIntervals = Mutex<[OpenInterval: OSSignpostIntervalState]>([:])
