/// The handler submits a request; the host answers with ``ReplyMessage``.
public struct SubmitMessage: WireMessage {
    public static let kind: UInt8 = 0x23
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text), .optional(3, .i64), .optional(4, .flag),
        .optional(5, .flag), .optional(6, .bytes, limit: FrameLimits.maximumBlob), .optional(7, .text),
        .optional(8, .text), .optional(11, .flag), .optional(12, .flag), .optional(13, .i64),
        .optional(14, .u64))
    /// The number that the answer repeats.
    public var call: UInt64
    /// The task's identifier.
    public var identifier: String
    /// The earliest begin date in milliseconds since 1970; `nil` means that there is none.
    public var earliest: Int64?
    /// Whether the launch requires external power; the manifest may require it too.
    public var externalPower: Bool
    /// Whether the launch requires a network connection; the manifest may require it too.
    public var network: Bool
    /// The payload as JSON text, at most 48 KiB; `nil` if there is none.
    public var payload: [UInt8]?
    /// For continued tasks, the title that the user sees.
    public var title: String?
    /// For continued tasks, the second line, below the title.
    public var subtitle: String?
    /// Whether the host refuses the request if it cannot start now, instead of keeping it.
    public var failsUnlessImmediate: Bool
    /// Whether the launch requires a GPU.
    public var requiresGPU: Bool
    /// For activities, the end of the window in milliseconds since 1970; `nil` means that there is no window.
    public var deadline: Int64?
    /// The number of the kind that the handler expects; the host refuses the request if the manifest has
    /// another.
    ///
    /// `nil` accepts the kind in the manifest.
    public var taskKind: UInt64?

    public init(call: UInt64, identifier: String) {
        self.call = call
        self.identifier = identifier
        externalPower = false
        network = false
        failsUnlessImmediate = false
        requiresGPU = false
    }

    public init(_ values: FieldValues) throws(WireError) {
        call = values[1]
        identifier = values[2]
        earliest = values[3]
        externalPower = values[4]
        network = values[5]
        payload = values[6]
        title = values[7]
        subtitle = values[8]
        failsUnlessImmediate = values[11]
        requiresGPU = values[12]
        deadline = values[13]
        taskKind = values[14]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, identifier)
        fields.write(3, earliest)
        fields.write(4, ifTrue: externalPower)
        fields.write(5, ifTrue: network)
        fields.write(6, payload)
        fields.write(7, title)
        fields.write(8, subtitle)
        fields.write(11, ifTrue: failsUnlessImmediate)
        fields.write(12, ifTrue: requiresGPU)
        fields.write(13, deadline)
        fields.write(14, taskKind)
    }
}

/// The handler cancels pending requests; the host answers with ``ReplyMessage``.
public struct TaskCancelMessage: WireMessage {
    public static let kind: UInt8 = 0x24
    public static let table = FieldTable(.required(1, .u64), .optional(2, .text))
    /// The number that the answer repeats.
    public var call: UInt64
    /// The task's identifier; `nil` cancels all pending requests of the bundle.
    public var identifier: String?

    public init(call: UInt64, identifier: String?) {
        self.call = call
        self.identifier = identifier
    }

    public init(_ values: FieldValues) throws(WireError) {
        call = values[1]
        identifier = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, identifier)
    }
}

/// The handler requests the list of its bundle's pending requests; the host answers with ``ReplyMessage``.
public struct PendingMessage: WireMessage {
    public static let kind: UInt8 = 0x25
    public static let table = FieldTable(.required(1, .u64))
    /// The number that the answer repeats.
    public var call: UInt64

    public init(call: UInt64) { self.call = call }

    public init(_ values: FieldValues) throws(WireError) { call = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, call) }
}

/// The handler begins an assertion, which keeps its process alive after completion.
public struct BeginAssertionMessage: WireMessage {
    public static let kind: UInt8 = 0x26
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text, limit: maximumName),
        .optional(3, .bytes, limit: maximumFrames * 8))
    /// The largest number of addresses in ``addresses``.
    public static let maximumFrames = 16
    /// The largest number of bytes in ``name``.
    public static let maximumName = 256
    /// The number of the assertion, which ``EndAssertionMessage`` repeats.
    public var assertion: UInt64
    /// The purpose of the assertion.
    public var name: String
    /// The return addresses of the code that began it, innermost first; empty if they are unknown.
    public var addresses: [UInt64]

    public init(assertion: UInt64, name: String, addresses: [UInt64] = []) {
        self.assertion = assertion
        self.name = name
        self.addresses = addresses
    }

    public init(_ values: FieldValues) throws(WireError) {
        assertion = values[1]
        name = values[2]
        let bytes: [UInt8]? = values[3]
        addresses = try StackBytes.addresses(in: bytes ?? [])
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, assertion)
        fields.write(2, name)
        fields.write(3, addresses.isEmpty ? nil : StackBytes.bytes(of: addresses))
    }
}

/// The handler ends an assertion.
public struct EndAssertionMessage: WireMessage {
    public static let kind: UInt8 = 0x27
    public static let table = FieldTable(.required(1, .u64))
    /// The number from ``BeginAssertionMessage``.
    public var assertion: UInt64

    public init(assertion: UInt64) { self.assertion = assertion }

    public init(_ values: FieldValues) throws(WireError) { assertion = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, assertion) }
}
