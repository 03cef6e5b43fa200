/// Walks over the fields of one frame's body.
///
/// Valid as long as the bytes it was made of; the decoder hands it out for the length of one call.
public struct FieldReader {
    private var rest: UnsafeRawBufferPointer

    /// Makes a reader of a body.
    public init(_ body: UnsafeRawBufferPointer) {
        rest = body
    }

    /// One field: its tag and the bytes of its value.
    public struct Field {
        /// What it is, per message.
        public let tag: UInt8
        /// The value's bytes.
        public let value: UnsafeRawBufferPointer
    }

    /// Takes the next field; `nil` at the body's end.
    ///
    /// - Throws: ``WireError`` if the field overruns the body.
    public mutating func next() throws(WireError) -> Field? {
        if rest.isEmpty { return nil }
        guard rest.count >= 3 else {
            throw WireError(.fieldLength, "\(rest.count) bytes are left in a body; a field needs at least 3")
        }
        let tag = rest[0]
        let length = Int(UInt16(littleEndian: rest.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
        guard rest.count - 3 >= length else {
            throw WireError(
                .fieldLength,
                "field \(tag) claims \(length) bytes; \(rest.count - 3) are left in the body")
        }
        let value = UnsafeRawBufferPointer(rebasing: rest[3..<(3 + length)])
        rest = UnsafeRawBufferPointer(rebasing: rest[(3 + length)...])
        return Field(tag: tag, value: value)
    }
}

extension FieldReader.Field {
    func wrongLength(_ wanted: Int) -> WireError {
        WireError(.fieldLength, "field \(tag) has \(value.count) bytes, not \(wanted)")
    }
}
