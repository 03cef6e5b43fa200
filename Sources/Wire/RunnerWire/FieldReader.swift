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
            throw WireError(.fieldLength, "\(rest.count) bytes are left in a body; a field has at least 3")
        }
        let tag = rest[0]
        let length = Int(UInt16(littleEndian: rest.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
        guard rest.count - 3 >= length else {
            throw WireError(
                .fieldLength,
                "field \(tag) says it has \(length) bytes; \(rest.count - 3) are left in the body")
        }
        let value = UnsafeRawBufferPointer(rebasing: rest[3..<(3 + length)])
        rest = UnsafeRawBufferPointer(rebasing: rest[(3 + length)...])
        return Field(tag: tag, value: value)
    }
}

extension FieldReader.Field {
    /// Reads a u64 that stands once.
    func read(into number: inout UInt64?) throws(WireError) {
        try once(number == nil)
        number = UInt64(littleEndian: try eightBytes().loadUnaligned(as: UInt64.self))
    }

    /// Reads an i64 that stands once.
    func read(into number: inout Int64?) throws(WireError) {
        try once(number == nil)
        number = Int64(littleEndian: try eightBytes().loadUnaligned(as: Int64.self))
    }

    /// Reads a flag that stands once.
    func read(into flag: inout Bool?) throws(WireError) {
        try once(flag == nil)
        guard value.count == 1 else { throw wrongLength(1) }
        switch value[0] {
        case 0: flag = false
        case 1: flag = true
        default: throw WireError(.range, "flag \(tag) is \(value[0]), neither 0 nor 1")
        }
    }

    /// Reads a text that stands once.
    func read(into text: inout String?, atMost limit: Int = .max) throws(WireError) {
        try once(text == nil)
        text = try self.text(atMost: limit)
    }

    /// Reads bytes that stand once.
    func read(into bytes: inout [UInt8]?, atMost limit: Int = .max) throws(WireError) {
        try once(bytes == nil)
        guard value.count <= limit else { throw tooLong(limit) }
        bytes = [UInt8](value)
    }

    /// Reads a text.
    func text(atMost limit: Int = .max) throws(WireError) -> String {
        guard value.count <= limit else { throw tooLong(limit) }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw WireError(.text, "field \(tag) is not UTF-8")
        }
        guard !value.contains(0) else { throw WireError(.text, "field \(tag) has a NUL") }
        return text
    }

    private func once(_ isFirst: Bool) throws(WireError) {
        if !isFirst { throw WireError(.repeatedField, "field \(tag) stands twice") }
    }

    private func eightBytes() throws(WireError) -> UnsafeRawBufferPointer {
        guard value.count == 8 else { throw wrongLength(8) }
        return value
    }

    private func wrongLength(_ wanted: Int) -> WireError {
        WireError(.fieldLength, "field \(tag) has \(value.count) bytes, not \(wanted)")
    }

    private func tooLong(_ limit: Int) -> WireError {
        WireError(.range, "field \(tag) has \(value.count) bytes; \(limit) are allowed")
    }
}

/// The value of a required field.
///
/// - Throws: ``WireError`` naming the message and the tag where it is missing.
func required<Value>(_ value: Value?, _ tag: UInt8, of kind: UInt8) throws(WireError) -> Value {
    guard let value else {
        throw WireError(.missingField, "message \(hexadecimal(kind)) lacks its field \(tag)")
    }
    return value
}
