public import TaskModel

/// The facts about a launch: the first frame that a task receives.
public struct TaskLaunchMessage: WireMessage {
    public static let kind: UInt8 = 0x02
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .required(3, .text), .required(4, .text),
        .required(5, .u64), .required(6, .u64), .required(7, .u64), .optional(8, .i64), .optional(9, .i64),
        .required(10, .text), .required(11, .text), .optional(12, .text), .optional(13, .text),
        .optional(14, .flag), .optional(15, .u64), .repeated(16, .text), .repeated(17, .text),
        .optional(18, .bytes))
    /// The number of the launch.
    public var launch: UInt64
    /// The number of the request that the launch runs.
    public var request: UInt64
    /// The task's identifier.
    public var identifier: String
    /// The task's bundle.
    public var bundle: String
    /// The task's kind.
    public var taskKind: TaskKind
    /// The number of the attempt, from 1.
    public var attempt: UInt64
    /// The fencing token, which grows with every launch on the host.
    public var token: UInt64
    /// When the identifier last succeeded, in milliseconds since 1970; `nil` if it never did.
    public var lastSuccess: Int64?
    /// The end of the lease, in nanoseconds on CLOCK_BOOTTIME; `nil` means that run time is not limited.
    public var leaseEnd: Int64?
    /// The path of the bundle's own directory.
    public var dataDirectory: String
    /// The path of the launch's own directory for temporary files; the host removes it after the launch.
    public var temporaryDirectory: String
    /// The title that the user sees; `nil` means that it is empty.
    public var title: String?
    /// The second line, below the title; `nil` means that it is empty.
    public var subtitle: String?
    /// Whether the task stops before it calls its handler, so that a debugger can attach.
    public var debug: Bool
    /// How long, in milliseconds, assertions may keep the process alive after completion; `nil` means 30,000.
    public var assertionAllowance: UInt64?
    /// The patterns of identifiers that the manifest permits, as they are written there.
    public var permittedIdentifiers: [String]
    /// The kind of each pattern in ``permittedIdentifiers``, in the same order.
    public var permittedKinds: [TaskKind]
    /// The background modes that the manifest declares.
    public var modes: [String]

    public init(
        launch: UInt64, request: UInt64, identifier: String, bundle: String, taskKind: TaskKind,
        attempt: UInt64,
        token: UInt64, dataDirectory: String, temporaryDirectory: String
    ) {
        self.launch = launch
        self.request = request
        self.identifier = identifier
        self.bundle = bundle
        self.taskKind = taskKind
        self.attempt = attempt
        self.token = token
        self.dataDirectory = dataDirectory
        self.temporaryDirectory = temporaryDirectory
        debug = false
        permittedIdentifiers = []
        permittedKinds = []
        modes = []
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        request = values[2]
        identifier = values[3]
        bundle = values[4]
        taskKind = try Self.taskKind(values[5])
        attempt = values[6]
        token = values[7]
        lastSuccess = values[8]
        leaseEnd = values[9]
        dataDirectory = values[10]
        temporaryDirectory = values[11]
        title = values[12]
        subtitle = values[13]
        debug = values[14]
        assertionAllowance = values[15]
        permittedIdentifiers = values.texts(16)
        modes = values.texts(17)
        permittedKinds = []
        let kinds: [UInt8] = values[18]
        for number in kinds { permittedKinds.append(try Self.taskKind(UInt64(number))) }
    }

    private static func taskKind(_ number: UInt64) throws(WireError) -> TaskKind {
        guard let kind = TaskKind(wireValue: number) else {
            throw WireError(.range, "\(number) is not a task kind")
        }
        return kind
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, request)
        fields.write(3, identifier)
        fields.write(4, bundle)
        fields.write(5, taskKind.wireValue)
        fields.write(6, attempt)
        fields.write(7, token)
        fields.write(8, lastSuccess)
        fields.write(9, leaseEnd)
        fields.write(10, dataDirectory)
        fields.write(11, temporaryDirectory)
        fields.write(12, title)
        fields.write(13, subtitle)
        fields.write(14, ifTrue: debug)
        fields.write(15, assertionAllowance)
        for identifier in permittedIdentifiers { fields.write(16, identifier) }
        for mode in modes { fields.write(17, mode) }
        if !permittedKinds.isEmpty { fields.write(18, permittedKinds.map { UInt8(clamping: $0.wireValue) }) }
    }
}

/// The request's payload.
public struct PayloadMessage: WireMessage {
    public static let kind: UInt8 = 0x03
    public static let table = FieldTable(.required(1, .bytes, limit: FrameLimits.maximumBlob))
    /// The payload as JSON text, at most 48 KiB.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public init(_ values: FieldValues) throws(WireError) { bytes = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// The bytes that an earlier attempt saved as a checkpoint.
public struct RestoredCheckpointMessage: WireMessage {
    public static let kind: UInt8 = 0x04
    public static let table = FieldTable(.required(1, .bytes, limit: FrameLimits.maximumBlob))
    /// The bytes as the task sent them, at most 48 KiB.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public init(_ values: FieldValues) throws(WireError) { bytes = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// The `call:` program that the task runs instead of a handler.
public struct ProgramMessage: WireMessage {
    public static let kind: UInt8 = 0x05
    public static let table = FieldTable(.required(1, .bytes, limit: FrameLimits.maximumProgram))
    /// The program, encoded as Documentation/RunnerProtocol.md describes; at most 60,000 bytes.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public init(_ values: FieldValues) throws(WireError) { bytes = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// The task has received everything that it needs; it answers *ready* and calls its handler.
public struct StartMessage: WireMessage {
    public static let kind: UInt8 = 0x06
    public static let table = FieldTable()

    public init() {}

    public init(_ values: FieldValues) throws(WireError) {}

    public func write(to fields: inout FieldWriter) {}
}

/// The task must stop.
public struct TaskExpireMessage: WireMessage {
    public static let kind: UInt8 = 0x10
    public static let table = FieldTable(.required(1, .text), .required(2, .u64), .required(3, .i64))
    /// The raw value of a ``Reason``; a task obeys the message even if it does not know the reason.
    public var reason: String
    /// The grace period, in milliseconds.
    public var grace: UInt64
    /// When the host kills the launch, in nanoseconds on CLOCK_MONOTONIC.
    public var deadline: Int64

    public init(reason: String, grace: UInt64, deadline: Int64) {
        self.reason = reason
        self.grace = grace
        self.deadline = deadline
    }

    public init(_ values: FieldValues) throws(WireError) {
        reason = values[1]
        grace = values[2]
        deadline = values[3]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, reason)
        fields.write(2, grace)
        fields.write(3, deadline)
    }
}
