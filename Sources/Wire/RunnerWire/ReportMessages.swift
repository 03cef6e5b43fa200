/// The task has read *start* and is about to call its handler; the lease starts now.
public struct ReadyMessage: WireMessage {
    public static let kind: UInt8 = 0x01
    public static let table = FieldTable(.required(1, .u64), .optional(2, .u64), .required(3, .u64))
    /// The runner's protocol version.
    public var protocolVersion: UInt64
    /// The ABI version of the plugin; `nil` for a `call:`.
    public var abiVersion: UInt64?
    /// The time until this message was sent, in nanoseconds: from the clone, or from the launcher's request
    /// to a standby.
    public var cloneToReady: UInt64

    public init(protocolVersion: UInt64, abiVersion: UInt64?, cloneToReady: UInt64) {
        self.protocolVersion = protocolVersion
        self.abiVersion = abiVersion
        self.cloneToReady = cloneToReady
    }

    public init(_ values: FieldValues) throws(WireError) {
        protocolVersion = values[1]
        abiVersion = values[2]
        cloneToReady = values[3]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, protocolVersion)
        fields.write(2, abiVersion)
        fields.write(3, cloneToReady)
    }
}

/// How far the task is, in units that it chooses.
public struct TaskProgressMessage: WireMessage {
    public static let kind: UInt8 = 0x20
    public static let table = FieldTable(
        .required(1, .i64), .required(2, .i64), .optional(3, .text, limit: maximumMessage))
    /// The largest number of bytes in ``message``.
    public static let maximumMessage = 1024
    /// Completed units, 0 or more; can become smaller.
    public var completed: Int64
    /// Total units, 0 or more; 0 means that the progress is indeterminate.
    public var total: Int64
    /// What the task is doing; `nil` keeps the previous text.
    public var message: String?

    public init(completed: Int64, total: Int64, message: String? = nil) {
        self.completed = completed
        self.total = total
        self.message = message
    }

    public init(_ values: FieldValues) throws(WireError) {
        completed = values[1]
        total = values[2]
        message = values[3]
        guard completed >= 0, total >= 0 else {
            throw WireError(.range, "progress \(completed) of \(total) is negative")
        }
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, completed)
        fields.write(2, total)
        fields.write(3, message)
    }
}

/// A line that the handler logged.
public struct LogMessage: WireMessage {
    public static let kind: UInt8 = 0x21
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text, limit: maximumMessage), .optional(3, .text),
        .optional(4, .text))
    /// The largest number of bytes in ``message``.
    public static let maximumMessage = 4096
    /// The level: a `bgtask_log_level`, 1 through 5.
    public var level: UInt64
    /// The text of the line.
    public var message: String
    /// The subsystem, as in Apple's unified logging; `nil` if none was given.
    public var subsystem: String?
    /// The category, as in Apple's unified logging; `nil` if none was given.
    public var category: String?

    public init(level: UInt64, message: String, subsystem: String? = nil, category: String? = nil) {
        self.level = level
        self.message = message
        self.subsystem = subsystem
        self.category = category
    }

    public init(_ values: FieldValues) throws(WireError) {
        level = values[1]
        message = values[2]
        subsystem = values[3]
        category = values[4]
        guard (1...5).contains(level) else { throw WireError(.range, "\(level) is not a log level") }
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, level)
        fields.write(2, message)
        fields.write(3, subsystem)
        fields.write(4, category)
    }
}

/// The bytes that the handler saves for the next attempt.
public struct CheckpointMessage: WireMessage {
    public static let kind: UInt8 = 0x22
    public static let table = FieldTable(.required(1, .bytes, limit: FrameLimits.maximumBlob))
    /// The bytes, at most 48 KiB; empty bytes delete what was saved.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public init(_ values: FieldValues) throws(WireError) { bytes = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// The task can't call a handler: its process could not be prepared, or the library or its entry function
/// can't be used.
public struct LoadFailedMessage: WireMessage {
    public static let kind: UInt8 = 0x2E
    public static let table = FieldTable(.required(1, .text), .optional(2, .flag))
    /// What failed, such as the error message of the dynamic loader.
    public var finding: String
    /// Whether the system lacked processes or memory, so that it may work later.
    public var isShortage: Bool

    public init(finding: String, isShortage: Bool = false) {
        self.finding = finding
        self.isShortage = isShortage
    }

    public init(_ values: FieldValues) throws(WireError) {
        finding = values[1]
        isShortage = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, finding)
        if isShortage { fields.write(2, true) }
    }
}

/// The handler has completed the task.
public struct DoneMessage: WireMessage {
    public static let kind: UInt8 = 0x2F
    public static let table = FieldTable(
        .required(1, .flag), .optional(2, .text, limit: maximumMessage), .optional(3, .flag),
        .optional(4, .flag), .optional(5, .u64))
    /// The largest number of bytes in ``message``.
    public static let maximumMessage = 1024
    /// The value that the handler passed: whether it did its work.
    public var success: Bool
    /// A sentence from the handler; `nil` if there is none.
    public var message: String?
    /// Whether an expiration ended the task because no expiration handler was set.
    ///
    /// The outcome is then `expired`, or `cancelled` after a cancellation.
    public var isUnstarted: Bool
    /// Whether the library neither set an expiration handler nor requested the expiration descriptor.
    ///
    /// Together with ``isUnstarted``, it also means that the handler had the time to do so, and did not call
    /// `host->expired` either.
    public var isDeaf: Bool
    /// The exit status of the program that a `command:` ran, 0 to 255; `nil` for other tasks, and if a signal
    /// ended the program.
    public var exitStatus: UInt64?

    public init(
        success: Bool, message: String? = nil, isUnstarted: Bool = false, isDeaf: Bool = false,
        exitStatus: UInt64? = nil
    ) {
        self.success = success
        self.message = message
        self.isUnstarted = isUnstarted
        self.isDeaf = isDeaf
        self.exitStatus = exitStatus
    }

    public init(_ values: FieldValues) throws(WireError) {
        success = values[1]
        message = values[2]
        isUnstarted = values[3]
        isDeaf = values[4]
        exitStatus = values[5]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, success)
        fields.write(2, message)
        fields.write(3, ifTrue: isUnstarted)
        fields.write(4, ifTrue: isDeaf)
        fields.write(5, exitStatus)
    }
}
