public import Foundation
import os

/// A message in the log.
open class OSLogEntry: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// How long Apple's systems keep a message; always undefined here.
    public enum StoreCategory: Int, Sendable {
        case undefined, metadata, shortTerm, longTermAuto, longTerm1, longTerm3, longTerm7, longTerm14
        case longTerm30
    }

    let entry: LogMemory.Entry

    init(_ entry: LogMemory.Entry) {
        self.entry = entry
        super.init()
    }

    /// The text, in which private values are hidden.
    open var composedMessage: String { entry.text }
    /// When it was written.
    open var date: Date { entry.date }
    /// Always undefined, because the setting `log.age` of the host counts for all messages.
    open var storeCategory: StoreCategory { .undefined }
}

/// An entry that a process wrote.
public protocol OSLogEntryFromProcess: AnyObject {
    /// Always 0.
    var activityIdentifier: UInt64 { get }
    /// The name of the process.
    var process: String { get }
    /// The number of the process, as it sees it itself.
    var processIdentifier: Int32 { get }
    /// The name of the process.
    var sender: String { get }
    /// A number that differs between the threads of the process.
    var threadIdentifier: UInt64 { get }
}

/// An entry with a subsystem and a category.
public protocol OSLogEntryWithPayload: AnyObject {
    /// The category; empty if there is none.
    var category: String { get }
    /// The text, because the format is not kept.
    var formatString: String { get }
    /// The subsystem; empty if there is none.
    var subsystem: String { get }
}

/// A message of `Logger` or `os_log`, or the line of a signpost.
open class OSLogEntryLog: OSLogEntry, OSLogEntryFromProcess, OSLogEntryWithPayload, @unchecked Sendable {
    /// The importance of a message.
    public enum Level: Int, Sendable {
        case undefined, debug, info, notice, error, fault
    }

    /// The importance of the message.
    open var level: Level {
        switch entry.type {
        case .debug: .debug
        case .info: .info
        case .error: .error
        case .fault: .fault
        default: .notice
        }
    }

    open var activityIdentifier: UInt64 { 0 }
    open var process: String { ProcessInfo.processInfo.processName }
    open var processIdentifier: Int32 { ProcessInfo.processInfo.processIdentifier }
    open var sender: String { process }
    open var threadIdentifier: UInt64 { entry.thread }
    open var category: String { entry.category }
    open var subsystem: String { entry.subsystem }
    open var formatString: String { entry.text }
}
