public import TaskModel

/// The facts of a launch: the first frame that a task gets.
public struct LaunchMessage: WireMessage {
    /// 0x02.
    public static let kind: UInt8 = 0x02
    /// The launch.
    public var launch: UInt64
    /// The request that it runs.
    public var request: UInt64
    /// The task.
    public var identifier: String
    /// The bundle.
    public var bundle: String
    /// The task's kind.
    public var taskKind: TaskKind
    /// From 1.
    public var attempt: UInt64
    /// The fencing token.
    public var token: UInt64
    /// Milliseconds since 1970; `nil`: never.
    public var lastSuccess: Int64?
    /// CLOCK_BOOTTIME nanoseconds; `nil`: no end.
    public var leaseEnd: Int64?
    /// The bundle's directory.
    public var dataDirectory: String
    /// Emptied after the launch.
    public var temporaryDirectory: String
    /// What the user sees; `nil` is empty.
    public var title: String?
    /// The second line; `nil` is empty.
    public var subtitle: String?
    /// Whether the task stops itself before the handler.
    public var debug: Bool
    /// Milliseconds that assertions may keep the process after completion; `nil` is 30,000.
    public var assertionAllowance: UInt64?
    /// What the manifest permits, as written there.
    public var permittedIdentifiers: [String]
    /// The kinds of ``permittedIdentifiers``, in their order.
    public var permittedKinds: [TaskKind]
    /// The manifest's modes, as written there.
    public var modes: [String]

    /// Makes a message with the required fields.
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

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var launch: UInt64?, request: UInt64?, kind: UInt64?, attempt: UInt64?, token: UInt64?,
            allowance: UInt64?
        var identifier: String?, bundle: String?, data: String?, temporary: String?
        var title: String?, subtitle: String?, lastSuccess: Int64?, leaseEnd: Int64?, debug: Bool?
        var permitted: [String] = [], permittedKinds: [UInt8]?, modes: [String] = []
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &launch)
            case 2: try field.read(into: &request)
            case 3: try field.read(into: &identifier)
            case 4: try field.read(into: &bundle)
            case 5: try field.read(into: &kind)
            case 6: try field.read(into: &attempt)
            case 7: try field.read(into: &token)
            case 8: try field.read(into: &lastSuccess)
            case 9: try field.read(into: &leaseEnd)
            case 10: try field.read(into: &data)
            case 11: try field.read(into: &temporary)
            case 12: try field.read(into: &title)
            case 13: try field.read(into: &subtitle)
            case 14: try field.read(into: &debug)
            case 15: try field.read(into: &allowance)
            case 16: permitted.append(try field.text())
            case 17: modes.append(try field.text())
            case 18: try field.read(into: &permittedKinds)
            default: continue
            }
        }
        guard let taskKind = TaskKind(wireValue: try required(kind, 5, of: Self.kind)) else {
            throw WireError(.range, "there is no task kind \(kind ?? 0)")
        }
        self.init(
            launch: try required(launch, 1, of: Self.kind), request: try required(request, 2, of: Self.kind),
            identifier: try required(identifier, 3, of: Self.kind),
            bundle: try required(bundle, 4, of: Self.kind),
            taskKind: taskKind, attempt: try required(attempt, 6, of: Self.kind),
            token: try required(token, 7, of: Self.kind),
            dataDirectory: try required(data, 10, of: Self.kind),
            temporaryDirectory: try required(temporary, 11, of: Self.kind))
        self.lastSuccess = lastSuccess
        self.leaseEnd = leaseEnd
        self.title = title
        self.subtitle = subtitle
        self.debug = debug ?? false
        assertionAllowance = allowance
        permittedIdentifiers = permitted
        for number in permittedKinds ?? [] {
            guard let kind = TaskKind(wireValue: UInt64(number)) else {
                throw WireError(.range, "there is no task kind \(number)")
            }
            self.permittedKinds.append(kind)
        }
        self.modes = modes
    }

    /// Writes a body.
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
    /// 0x03.
    public static let kind: UInt8 = 0x03
    /// JSON text; at most 48 KiB.
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

/// What the attempt before saved.
public struct RestoredCheckpointMessage: WireMessage {
    /// 0x04.
    public static let kind: UInt8 = 0x04
    /// As the task sent it; at most 48 KiB.
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

/// The `call:` program that the task runs instead of a handler.
public struct ProgramMessage: WireMessage {
    /// 0x05.
    public static let kind: UInt8 = 0x05
    /// As Documentation/RunnerProtocol.md encodes it; at most 60,000.
    public var bytes: [UInt8]

    /// Makes a message.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        bytes = try oneBlob(fields, atMost: FrameLimits.maximumProgram, of: Self.kind)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, bytes) }
}

/// The task knows everything; it reports ready and runs.
public struct StartMessage: WireMessage {
    /// 0x06.
    public static let kind: UInt8 = 0x06

    /// Makes a message.
    public init() {}

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        while try fields.next() != nil {}
    }

    /// Writes nothing.
    public func write(to fields: inout FieldWriter) {}
}

/// The call to stop.
public struct ExpireMessage: WireMessage {
    /// 0x10.
    public static let kind: UInt8 = 0x10
    /// The word of the reason; a task treats one that it does not know as a plain call to stop.
    public var reason: String
    /// The grace period, in milliseconds.
    public var grace: UInt64
    /// When everything is killed, CLOCK_MONOTONIC nanoseconds.
    public var deadline: Int64

    /// Makes a message.
    public init(reason: String, grace: UInt64, deadline: Int64) {
        self.reason = reason
        self.grace = grace
        self.deadline = deadline
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var reason: String?, grace: UInt64?, deadline: Int64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &reason)
            case 2: try field.read(into: &grace)
            case 3: try field.read(into: &deadline)
            default: continue
            }
        }
        self.init(
            reason: try required(reason, 1, of: Self.kind), grace: try required(grace, 2, of: Self.kind),
            deadline: try required(deadline, 3, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, reason)
        fields.write(2, grace)
        fields.write(3, deadline)
    }
}

/// The single bytes field, tag 1, of a body.
func oneBlob(_ fields: FieldReader, atMost limit: Int, of kind: UInt8) throws(WireError) -> [UInt8] {
    var fields = fields
    var bytes: [UInt8]?
    while let field = try fields.next() {
        if field.tag == 1 { try field.read(into: &bytes, atMost: limit) }
    }
    return try required(bytes, 1, of: kind)
}

/// The single u64 field, tag 1, of a body.
func oneNumber(_ fields: FieldReader, of kind: UInt8) throws(WireError) -> UInt64 {
    var fields = fields
    var number: UInt64?
    while let field = try fields.next() {
        if field.tag == 1 { try field.read(into: &number) }
    }
    return try required(number, 1, of: kind)
}
