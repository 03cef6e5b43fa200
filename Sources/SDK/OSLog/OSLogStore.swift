import BackgroundTasks
public import Foundation
import os

/// The messages that this process has written with `Logger`, `os_log` and signposts.
///
/// The process keeps its newest 512 KiB. Those of earlier launches are in the host's log; users read them
/// with `bgtask logs`.
public final class OSLogStore: NSObject, Sendable {
    /// Whose messages a store has.
    public enum Scope: Int, Sendable {
        /// All processes; refused, as on iOS.
        case system = 0
        /// This process.
        case currentProcessIdentifier = 1
    }

    /// Opens a store.
    ///
    /// - Parameter scope: Whose messages; only `currentProcessIdentifier` is permitted.
    /// - Throws: ``OSLogStoreError`` for the scope `system`.
    public init(scope: Scope) throws {
        guard scope == .currentProcessIdentifier else {
            throw OSLogStoreError(
                "OSLogStore can read only the messages of its own process. Use the scope "
                    + ".currentProcessIdentifier, or read the host's log with 'bgtask logs'")
        }
        super.init()
    }

    /// Always throws, because a task can't read the messages of other processes.
    public static func local() throws -> OSLogStore { try OSLogStore(scope: .system) }

    /// Always throws, because Linux has no log archives.
    public init(url: URL) throws {
        throw OSLogStoreError(
            "OSLogStore can't read \(url.path): Linux has no log archives. Use 'bgtask logs --json' for messages "
                + "of the host's log")
    }

    /// The position of the first message at or after a date.
    public func position(date: Date) -> OSLogPosition { OSLogPosition(date) }

    /// The position of the first message written at most some seconds before the newest one.
    public func position(timeIntervalSinceEnd: TimeInterval) -> OSLogPosition {
        let end = LogMemory.shared.entries.last?.date ?? App.shared.host.now
        return OSLogPosition(end + min(0, timeIntervalSinceEnd))
    }

    /// The position of the first message written some seconds after the machine's start.
    public func position(timeIntervalSinceLatestBoot: TimeInterval) -> OSLogPosition {
        OSLogPosition(
            App.shared.host.now - ProcessInfo.processInfo.systemUptime + timeIntervalSinceLatestBoot)
    }

    /// The messages, the oldest first.
    ///
    /// - Parameters:
    ///   - options: `reverse` for the newest first. With a position, these are the messages before it.
    ///   - position: Where to begin; `nil` means at the first message.
    ///   - predicate: Which messages; `nil` means all. Besides blocks, it can be made with
    ///     `NSPredicate(format:)` of this module.
    /// - Returns: The messages at the time of this call, each an ``OSLogEntryLog``.
    /// - Throws: Nothing; Apple's method does.
    public func getEntries(
        with options: OSLogEnumerator.Options = [], at position: OSLogPosition? = nil,
        matching predicate: NSPredicate? = nil
    ) throws -> AnySequence<OSLogEntry> {
        let isReverse = options.contains(.reverse)
        var entries = LogMemory.shared.entries
        if let date = position?.date {
            entries = entries.filter { isReverse ? $0.date < date : $0.date >= date }
        }
        if isReverse { entries.reverse() }
        let found = entries.map(OSLogEntryLog.init)
        return AnySequence(
            predicate.map { predicate in found.filter { predicate.evaluate(with: $0) } } ?? found)
    }
}

/// A place in the log.
public final class OSLogPosition: NSObject, Sendable {
    let date: Date

    init(_ date: Date) {
        self.date = date
        super.init()
    }
}

/// The options of ``OSLogStore/getEntries(with:at:matching:)``.
public enum OSLogEnumerator {
    /// In which order messages come.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Wraps bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The newest first.
        public static let reverse = Self(rawValue: 1)
    }
}

/// Why a store can't be opened, as a sentence with what to do.
public struct OSLogStoreError: LocalizedError, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// The sentence.
    public var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
