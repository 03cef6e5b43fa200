/// The host wants to know where a thread of the task is.
public struct SampleMessage: WireMessage {
    /// 0x12.
    public static let kind: UInt8 = 0x12
    /// The thread, by its number in the task's own PID namespace.
    public var thread: UInt64

    /// Makes a message.
    public init(thread: UInt64) { self.thread = thread }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var thread: UInt64?
        while let field = try fields.next() {
            if field.tag == 1 { try field.read(into: &thread) }
        }
        self.init(thread: try required(thread, 1, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, thread) }
}

/// Where a thread of the task was when it was asked.
public struct StackMessage: WireMessage {
    /// 0x28.
    public static let kind: UInt8 = 0x28
    /// The most frames of a stack.
    public static let maximumFrames = 64
    /// The thread, as *sample* named it.
    public var thread: UInt64
    /// Where it was, then the return addresses, innermost first.
    public var addresses: [UInt64]

    /// Makes a message.
    public init(thread: UInt64, addresses: [UInt64]) {
        self.thread = thread
        self.addresses = addresses
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var thread: UInt64?, bytes: [UInt8]?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &thread)
            case 2: try field.read(into: &bytes, atMost: Self.maximumFrames * 8)
            default: continue
            }
        }
        let text = try required(bytes, 2, of: Self.kind)
        guard text.count % 8 == 0 else {
            throw WireError(.fieldLength, "a stack of \(text.count) bytes is no list of addresses")
        }
        let addresses = stride(from: 0, to: text.count, by: 8).map { start in
            text[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        self.init(thread: try required(thread, 1, of: Self.kind), addresses: addresses)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, thread)
        fields.write(
            2, addresses.flatMap { address in (0..<8).map { UInt8(truncatingIfNeeded: address >> ($0 * 8)) } }
        )
    }
}
