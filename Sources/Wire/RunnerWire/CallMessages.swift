/// The handler asks the host to accept a request; answered by *reply*.
public struct SubmitMessage: WireMessage {
    public static let kind: UInt8 = 0x23
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text), .optional(3, .i64), .optional(4, .flag),
        .optional(5, .flag), .optional(6, .bytes, limit: FrameLimits.maximumBlob), .optional(7, .text),
        .optional(8, .text), .optional(11, .flag), .optional(12, .flag), .optional(13, .i64),
        .optional(14, .u64))
    /// Names the question in the answer.
    public var call: UInt64
    /// The task.
    public var identifier: String
    /// Milliseconds since 1970; `nil`: no delay.
    public var earliest: Int64?
    /// Added to the manifest's constraint.
    public var externalPower: Bool
    /// Added to the manifest's constraint.
    public var network: Bool
    /// JSON text; at most 48 KiB.
    public var payload: [UInt8]?
    /// What the user sees.
    public var title: String?
    /// The second line.
    public var subtitle: String?
    /// Whether to refuse what can't start now, instead of keeping it.
    public var failsUnlessImmediate: Bool
    /// Asks for the GPU.
    public var requiresGPU: Bool
    /// When an activity's window ends, milliseconds since 1970; `nil`: no window.
    public var deadline: Int64?
    /// The number of the kind that the handler means, which the host compares with the manifest's; `nil`
    /// takes that.
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

/// The handler asks the host to cancel pending requests; answered by *reply*.
public struct TaskCancelMessage: WireMessage {
    public static let kind: UInt8 = 0x24
    public static let table = FieldTable(.required(1, .u64), .optional(2, .text))
    /// Names the question in the answer.
    public var call: UInt64
    /// The task; `nil` is all of the bundle.
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

/// The handler asks for its bundle's pending requests; answered by *reply*.
public struct PendingMessage: WireMessage {
    public static let kind: UInt8 = 0x25
    public static let table = FieldTable(.required(1, .u64))
    /// Names the question in the answer.
    public var call: UInt64

    public init(call: UInt64) { self.call = call }

    public init(_ values: FieldValues) throws(WireError) { call = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, call) }
}

/// The handler holds its process alive.
public struct BeginAssertionMessage: WireMessage {
    public static let kind: UInt8 = 0x26
    public static let table = FieldTable(.required(1, .u64), .required(2, .text, limit: maximumName))
    /// The most bytes of ``name``.
    public static let maximumName = 256
    /// Names it in *end assertion*.
    public var assertion: UInt64
    /// What it is for.
    public var name: String

    public init(assertion: UInt64, name: String) {
        self.assertion = assertion
        self.name = name
    }

    public init(_ values: FieldValues) throws(WireError) {
        assertion = values[1]
        name = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, assertion)
        fields.write(2, name)
    }
}

/// The handler ends its hold.
public struct EndAssertionMessage: WireMessage {
    public static let kind: UInt8 = 0x27
    public static let table = FieldTable(.required(1, .u64))
    /// The number of *begin assertion*.
    public var assertion: UInt64

    public init(assertion: UInt64) { self.assertion = assertion }

    public init(_ values: FieldValues) throws(WireError) { assertion = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, assertion) }
}
