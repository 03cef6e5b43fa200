/// The task has read *start* and calls its handler next; the lease starts here.
public struct ReadyMessage: WireMessage {
    /// 0x01.
    public static let kind: UInt8 = 0x01
    /// The runner's protocol version.
    public var protocolVersion: UInt64
    /// The plugin's ABI version; `nil` for a `call:`.
    public var abiVersion: UInt64?
    /// From the clone to here, in nanoseconds.
    public var cloneToReady: UInt64

    /// Makes a message.
    public init(protocolVersion: UInt64, abiVersion: UInt64?, cloneToReady: UInt64) {
        self.protocolVersion = protocolVersion
        self.abiVersion = abiVersion
        self.cloneToReady = cloneToReady
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var version: UInt64?, abi: UInt64?, time: UInt64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &version)
            case 2: try field.read(into: &abi)
            case 3: try field.read(into: &time)
            default: continue
            }
        }
        self.init(
            protocolVersion: try required(version, 1, of: Self.kind), abiVersion: abi,
            cloneToReady: try required(time, 3, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, protocolVersion)
        fields.write(2, abiVersion)
        fields.write(3, cloneToReady)
    }
}

/// How far the task has come.
public struct ProgressMessage: WireMessage {
    /// 0x20.
    public static let kind: UInt8 = 0x20
    /// The most bytes of ``message``.
    public static let maximumMessage = 1024
    /// Units done, 0 and up; may fall.
    public var completed: Int64
    /// All units, 0 and up; 0 is indeterminate.
    public var total: Int64
    /// What it is doing; `nil` keeps the last one.
    public var message: String?

    /// Makes a message.
    public init(completed: Int64, total: Int64, message: String? = nil) {
        self.completed = completed
        self.total = total
        self.message = message
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var completed: Int64?, total: Int64?, message: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &completed)
            case 2: try field.read(into: &total)
            case 3: try field.read(into: &message, atMost: Self.maximumMessage)
            default: continue
            }
        }
        self.init(
            completed: try required(completed, 1, of: Self.kind),
            total: try required(total, 2, of: Self.kind),
            message: message)
        guard self.completed >= 0, self.total >= 0 else {
            throw WireError(.range, "progress \(self.completed) of \(self.total) is negative")
        }
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, completed)
        fields.write(2, total)
        fields.write(3, message)
    }
}

/// A line that the handler logs.
public struct LogMessage: WireMessage {
    /// 0x21.
    public static let kind: UInt8 = 0x21
    /// The most bytes of ``message``.
    public static let maximumMessage = 4096
    /// A `bgtask_log_level`, 1 through 5.
    public var level: UInt64
    /// The line.
    public var message: String
    /// Apple's subsystem, where one was given.
    public var subsystem: String?
    /// Apple's category, where one was given.
    public var category: String?

    /// Makes a message.
    public init(level: UInt64, message: String, subsystem: String? = nil, category: String? = nil) {
        self.level = level
        self.message = message
        self.subsystem = subsystem
        self.category = category
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var level: UInt64?, message: String?, subsystem: String?, category: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &level)
            case 2: try field.read(into: &message, atMost: Self.maximumMessage)
            case 3: try field.read(into: &subsystem)
            case 4: try field.read(into: &category)
            default: continue
            }
        }
        self.init(
            level: try required(level, 1, of: Self.kind), message: try required(message, 2, of: Self.kind),
            subsystem: subsystem, category: category)
        guard (1...5).contains(self.level) else {
            throw WireError(.range, "there is no log level \(self.level)")
        }
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, level)
        fields.write(2, message)
        fields.write(3, subsystem)
        fields.write(4, category)
    }
}

/// What the next attempt shall begin from.
public struct CheckpointMessage: WireMessage {
    /// 0x22.
    public static let kind: UInt8 = 0x22
    /// The handler's bytes, at most 48 KiB; empty forgets.
    public var bytes: [UInt8]

    /// Makes a message.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        bytes = try oneBlob(fields, atMost: FrameLimits.maximumBlob, of: Self.kind)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// No handler runs: the entry is missing, of another ABI version, or NULL.
public struct LoadFailedMessage: WireMessage {
    /// 0x2E.
    public static let kind: UInt8 = 0x2E
    /// The loader's text.
    public var finding: String

    /// Makes a message.
    public init(finding: String) { self.finding = finding }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var finding: String?
        while let field = try fields.next() {
            if field.tag == 1 { try field.read(into: &finding) }
        }
        self.init(finding: try required(finding, 1, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, finding) }
}

/// The handler has completed the task.
public struct DoneMessage: WireMessage {
    /// 0x2F.
    public static let kind: UInt8 = 0x2F
    /// The most bytes of ``message``.
    public static let maximumMessage = 1024
    /// What the handler said.
    public var success: Bool
    /// A sentence of the handler.
    public var message: String?
    /// Whether an expiration found no handler to call; the outcome is `expired` then.
    public var isUnstarted: Bool
    /// Whether the library never set an expiration handler nor asked for the descriptor.
    public var isDeaf: Bool

    /// Makes a message.
    public init(success: Bool, message: String? = nil, isUnstarted: Bool = false, isDeaf: Bool = false) {
        self.success = success
        self.message = message
        self.isUnstarted = isUnstarted
        self.isDeaf = isDeaf
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var success: Bool?, message: String?, unstarted: Bool?, deaf: Bool?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &success)
            case 2: try field.read(into: &message, atMost: Self.maximumMessage)
            case 3: try field.read(into: &unstarted)
            case 4: try field.read(into: &deaf)
            default: continue
            }
        }
        self.init(
            success: try required(success, 1, of: Self.kind), message: message,
            isUnstarted: unstarted ?? false, isDeaf: deaf ?? false)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, success)
        fields.write(2, message)
        fields.write(3, ifTrue: isUnstarted)
        fields.write(4, ifTrue: isDeaf)
    }
}
