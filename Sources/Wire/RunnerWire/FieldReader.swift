/// Reads the fields of one frame's body, in order.
///
/// A reader is valid only as long as the bytes of the body. The decoder's are valid only during one call.
public struct FieldReader {
    private var rest: UnsafeRawBufferPointer

    /// Makes a reader at the beginning of a body.
    public init(_ body: UnsafeRawBufferPointer) {
        rest = body
    }

    /// One field of a body.
    public struct Field {
        /// The number that identifies the field within its message.
        public let tag: UInt8
        /// The bytes of the field's value.
        public let value: UnsafeRawBufferPointer
    }

    /// Reads the next field; the result is `nil` at the end of the body.
    ///
    /// - Throws: ``WireError`` if the body ends inside the field.
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
