/// A message of the runner protocol.
public protocol WireMessage: Sendable, Equatable {
    /// The byte that identifies the message in a frame.
    static var kind: UInt8 { get }
    /// The fields of the message, as Documentation/RunnerProtocol.md lists them.
    static var table: FieldTable { get }
    /// Reads the message from a body that was checked against ``table``.
    ///
    /// - Throws: ``WireError`` for a value that is valid for its type but not for the message.
    init(_ values: FieldValues) throws(WireError)
    /// Writes the fields of the message, in the order of their tags.
    func write(to fields: inout FieldWriter)
}

extension WireMessage {
    /// Checks a body against ``table`` and reads the message from it.
    ///
    /// - Throws: ``WireError`` for the first violation.
    public init(fields: FieldReader) throws(WireError) {
        try self.init(try Self.table.check(fields, of: Self.kind))
    }
}

/// Collects the fields of a message to send.
public struct FieldWriter {
    private(set) var bytes: [UInt8]
    /// The tag of the first field whose value is too long for the field's 16-bit length; `nil` if there is
    /// none.
    private(set) var oversized: UInt8?

    init(reservingHeader: Void) {
        bytes = [UInt8](repeating: 0, count: FrameLimits.headerSize)
    }

    /// Begins a body inside another one; only the outer body has a header.
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

    /// Writes a flag only if it is true.
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

/// Encodes messages as the frames of one direction of one channel, numbered from 0.
public struct FrameEncoder: Sendable {
    private var sequence: UInt16 = 0

    /// Creates an encoder for the start of a stream.
    public init() {}

    /// Encodes a message as the next frame.
    ///
    /// - Throws: ``WireError`` with the code `tooLarge`; the frame's number is then used for the next
    ///   message.
    public mutating func encode(_ message: some WireMessage) throws(WireError) -> [UInt8] {
        var fields = FieldWriter(reservingHeader: ())
        message.write(to: &fields)
        let frame = try fields.finish(kind: type(of: message).kind, sequence: sequence)
        sequence &+= 1
        return frame
    }
}

/// Refuses an unknown kind, unless such a kind is to be skipped.
///
/// - Throws: ``WireError`` for a kind below 0x80; for other kinds, the function returns.
func refuseUnknown(_ kind: UInt8, from sender: String) throws(WireError) {
    guard kind >= FrameLimits.firstSkippedKind else {
        throw WireError(
            .unknownKind, "the \(sender) sent a frame of the unknown kind \(hexadecimal(kind))")
    }
}
