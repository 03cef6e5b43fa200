/// The handler asks the host to accept a request; answered by *reply*.
public struct SubmitMessage: WireMessage {
    /// 0x23.
    public static let kind: UInt8 = 0x23
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
    /// The number of the kind that the handler means, which the host compares with the manifest's; `nil` takes that.
    public var taskKind: UInt64?

    /// Makes a message without any wish.
    public init(call: UInt64, identifier: String) {
        self.call = call
        self.identifier = identifier
        externalPower = false
        network = false
        failsUnlessImmediate = false
        requiresGPU = false
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var call: UInt64?, identifier: String?, earliest: Int64?, power: Bool?, network: Bool?
        var payload: [UInt8]?, title: String?, subtitle: String?, fails: Bool?, gpu: Bool?, deadline: Int64?
        var taskKind: UInt64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &call)
            case 2: try field.read(into: &identifier)
            case 3: try field.read(into: &earliest)
            case 4: try field.read(into: &power)
            case 5: try field.read(into: &network)
            case 6: try field.read(into: &payload, atMost: FrameLimits.maximumBlob)
            case 7: try field.read(into: &title)
            case 8: try field.read(into: &subtitle)
            case 11: try field.read(into: &fails)
            case 12: try field.read(into: &gpu)
            case 13: try field.read(into: &deadline)
            case 14: try field.read(into: &taskKind)
            default: continue
            }
        }
        self.init(
            call: try required(call, 1, of: Self.kind), identifier: try required(identifier, 2, of: Self.kind)
        )
        self.earliest = earliest
        externalPower = power ?? false
        self.network = network ?? false
        self.payload = payload
        self.title = title
        self.subtitle = subtitle
        failsUnlessImmediate = fails ?? false
        requiresGPU = gpu ?? false
        self.deadline = deadline
        self.taskKind = taskKind
    }

    /// Writes a body.
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
public struct CancelMessage: WireMessage {
    /// 0x24.
    public static let kind: UInt8 = 0x24
    /// Names the question in the answer.
    public var call: UInt64
    /// The task; `nil` is all of the bundle.
    public var identifier: String?

    /// Makes a message.
    public init(call: UInt64, identifier: String?) {
        self.call = call
        self.identifier = identifier
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var call: UInt64?, identifier: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &call)
            case 2: try field.read(into: &identifier)
            default: continue
            }
        }
        self.init(call: try required(call, 1, of: Self.kind), identifier: identifier)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, identifier)
    }
}

/// The handler asks for its bundle's pending requests; answered by *reply*.
public struct PendingMessage: WireMessage {
    /// 0x25.
    public static let kind: UInt8 = 0x25
    /// Names the question in the answer.
    public var call: UInt64

    /// Makes a message.
    public init(call: UInt64) { self.call = call }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { call = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, call) }
}

/// The handler holds its process alive.
public struct BeginAssertionMessage: WireMessage {
    /// 0x26.
    public static let kind: UInt8 = 0x26
    /// The most bytes of ``name``.
    public static let maximumName = 256
    /// Names it in *end assertion*.
    public var assertion: UInt64
    /// What it is for.
    public var name: String

    /// Makes a message.
    public init(assertion: UInt64, name: String) {
        self.assertion = assertion
        self.name = name
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var assertion: UInt64?, name: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &assertion)
            case 2: try field.read(into: &name, atMost: Self.maximumName)
            default: continue
            }
        }
        self.init(
            assertion: try required(assertion, 1, of: Self.kind), name: try required(name, 2, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, assertion)
        fields.write(2, name)
    }
}

/// The handler lets go.
public struct EndAssertionMessage: WireMessage {
    /// 0x27.
    public static let kind: UInt8 = 0x27
    /// The number of *begin assertion*.
    public var assertion: UInt64

    /// Makes a message.
    public init(assertion: UInt64) { self.assertion = assertion }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { assertion = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, assertion) }
}
