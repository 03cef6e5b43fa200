/// A message of the runner protocol.
public protocol WireMessage: Sendable, Equatable {
    /// Its kind byte.
    static var kind: UInt8 { get }
    /// Its fields, as Documentation/RunnerProtocol.md lists them.
    static var table: FieldTable { get }
    /// Takes its values from a body that has passed ``table``.
    ///
    /// - Throws: ``WireError`` for a value that its type permits and the message does not.
    init(_ values: FieldValues) throws(WireError)
    /// Writes its fields, in the order of the tags.
    func write(to fields: inout FieldWriter)
}

extension WireMessage {
    /// Checks a body against ``table`` and reads it.
    ///
    /// - Throws: ``WireError`` with the first violation.
    public init(fields: FieldReader) throws(WireError) {
        try self.init(try Self.table.check(fields, of: Self.kind))
    }
}

/// Collects the fields of a body that is sent.
public struct FieldWriter {
    private(set) var bytes: [UInt8]
    /// The first field whose value is too large for a length field.
    private(set) var oversized: UInt8?

    init(reservingHeader: Void) {
        bytes = [UInt8](repeating: 0, count: FrameLimits.headerSize)
    }

    /// Makes a writer of a nested body, which has no header.
    init() {
        bytes = []
    }

    public mutating func write(_ tag: UInt8, _ number: UInt64?) {
        guard let number else { return }
        begin(tag, 8)
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    public mutating func write(_ tag: UInt8, _ number: Int64?) {
        write(tag, number.map(UInt64.init(bitPattern:)))
    }

    public mutating func write(_ tag: UInt8, _ flag: Bool) {
        begin(tag, 1)
        bytes.append(flag ? 1 : 0)
    }

    /// Writes a flag if it is set.
    public mutating func write(_ tag: UInt8, ifTrue flag: Bool) {
        if flag { write(tag, true) }
    }

    public mutating func write(_ tag: UInt8, _ text: String?) {
        guard let text else { return }
        begin(tag, text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    public mutating func write(_ tag: UInt8, _ value: [UInt8]?) {
        guard let value else { return }
        begin(tag, value.count)
        bytes.append(contentsOf: value)
    }

    private mutating func begin(_ tag: UInt8, _ length: Int) {
        if length > Int(UInt16.max), oversized == nil { oversized = tag }
        bytes.append(tag)
        withUnsafeBytes(of: UInt16(truncatingIfNeeded: length).littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func finish(kind: UInt8, sequence: UInt16) throws(WireError) -> [UInt8] {
        let length = bytes.count - 4
        guard oversized == nil, length <= FrameLimits.maximumLength else {
            throw WireError(
                .tooLarge,
                "message \(hexadecimal(kind)) would have \(length) bytes; \(FrameLimits.maximumLength) are allowed"
            )
        }
        bytes.withUnsafeMutableBytes { header in
            header.storeBytes(of: UInt32(length).littleEndian, as: UInt32.self)
            header[4] = kind
            header.storeBytes(of: sequence.littleEndian, toByteOffset: 6, as: UInt16.self)
        }
        return bytes
    }
}

/// Turns messages into the frames of one direction of one channel, numbering them from 0.
public struct FrameEncoder: Sendable {
    private var sequence: UInt16 = 0

    /// Makes an encoder for the start of a stream.
    public init() {}

    /// The bytes of the next frame.
    ///
    /// - Throws: ``WireError`` with code `tooLarge`; the number is not used up then.
    public mutating func encode(_ message: some WireMessage) throws(WireError) -> [UInt8] {
        var fields = FieldWriter(reservingHeader: ())
        message.write(to: &fields)
        let frame = try fields.finish(kind: type(of: message).kind, sequence: sequence)
        sequence &+= 1
        return frame
    }
}

/// What a direction answers to a kind that it does not know.
///
/// - Throws: ``WireError`` for kinds below 0x80; returns for those that are skipped.
func refuseUnknown(_ kind: UInt8, from sender: String) throws(WireError) {
    guard kind >= FrameLimits.firstSkippedKind else {
        throw WireError(
            .unknownKind, "the \(sender) sent a frame of the unknown kind \(hexadecimal(kind))")
    }
}
