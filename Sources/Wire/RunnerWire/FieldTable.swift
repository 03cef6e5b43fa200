/// The type of a field's value.
public enum FieldType: Sendable {
    /// 8 bytes, little-endian.
    case u64
    /// 8 bytes, little-endian, two's complement.
    case i64
    /// 1 byte, 0 or 1.
    case flag
    /// UTF-8 text without a NUL byte.
    case text
    /// Any bytes, or a nested body.
    case bytes
}

/// One field of a message, as the tables of Documentation/RunnerProtocol.md describe it.
public struct FieldRule: Equatable, Sendable {
    /// The number that identifies the field within its message.
    public let tag: UInt8
    public let type: FieldType
    /// Whether the field must be present; Documentation/RunnerProtocol.md marks such a field with `*`.
    public let isRequired: Bool
    /// Whether the field may appear more than once; Documentation/RunnerProtocol.md marks it with `+`.
    public let isRepeated: Bool
    /// The largest number of bytes in a `text` or `bytes` value; 0 means that only the size of the frame
    /// limits it.
    public let limit: Int

    public init(_ tag: UInt8, _ type: FieldType, isRequired: Bool, isRepeated: Bool, limit: Int) {
        self.tag = tag
        self.type = type
        self.isRequired = isRequired
        self.isRepeated = isRepeated
        self.limit = limit
    }

    static func required(_ tag: UInt8, _ type: FieldType, limit: Int = 0) -> Self {
        Self(tag, type, isRequired: true, isRepeated: false, limit: limit)
    }

    static func optional(_ tag: UInt8, _ type: FieldType, limit: Int = 0) -> Self {
        Self(tag, type, isRequired: false, isRepeated: false, limit: limit)
    }

    static func repeated(_ tag: UInt8, _ type: FieldType) -> Self {
        Self(tag, type, isRequired: false, isRepeated: true, limit: 0)
    }

    func check(_ field: FieldReader.Field) throws(WireError) {
        let value = field.value
        switch type {
        case .u64, .i64:
            guard value.count == 8 else { throw field.wrongLength(8) }
        case .flag:
            guard value.count == 1 else { throw field.wrongLength(1) }
            guard value[0] <= 1 else {
                throw WireError(.range, "flag \(tag) is \(value[0]), neither 0 nor 1")
            }
        case .text:
            try checkLimit(field)
            guard String(validating: value, as: UTF8.self) != nil else {
                throw WireError(.text, "field \(tag) is not UTF-8")
            }
            guard !value.contains(0) else { throw WireError(.text, "field \(tag) contains a NUL") }
        case .bytes:
            try checkLimit(field)
        }
    }

    private func checkLimit(_ field: FieldReader.Field) throws(WireError) {
        guard limit == 0 || field.value.count <= limit else {
            throw WireError(.range, "field \(tag) has \(field.value.count) bytes; \(limit) are allowed")
        }
    }
}

/// The fields of one message.
///
/// A test compares every table with the tables of the runner (`Sources/Runner/bgtask-runner/messages.c`), so
/// that host and runner always agree about every message.
public struct FieldTable: Equatable, Sendable {
    /// The rules of the fields, in the order of their tags; at most 32.
    public let rules: [FieldRule]
    /// A bit set: bit i is 1 if the rule at index i is required.
    private let required: UInt32

    init(_ rules: FieldRule...) {
        self.rules = rules
        required = rules.indices.reduce(0) { $0 | (rules[$1].isRequired ? 1 << UInt32($1) : 0) }
    }

    /// Checks a body against every rule, and ignores fields without a rule.
    ///
    /// - Returns: The values; the message can read them without checking their types again.
    /// - Throws: ``WireError`` for the first violation.
    func check(_ body: FieldReader, of kind: UInt8) throws(WireError) -> FieldValues {
        var rest = body
        var seen: UInt32 = 0
        while let field = try rest.next() {
            guard let index = rules.firstIndex(where: { $0.tag == field.tag }) else { continue }
            let bit: UInt32 = 1 << UInt32(index)
            guard seen & bit == 0 || rules[index].isRepeated else {
                throw WireError(.repeatedField, "field \(field.tag) appears twice")
            }
            seen |= bit
            try rules[index].check(field)
        }
        guard seen & required == required else {
            let missing = rules[(required & ~seen).trailingZeroBitCount].tag
            throw WireError(.missingField, "message \(hexadecimal(kind)) lacks its field \(missing)")
        }
        return FieldValues(body: body)
    }
}

/// The values of a body that was checked against its table.
///
/// They are valid only as long as the bytes of the body. The type of a property selects the subscript: the
/// value is optional for an optional field, and otherwise not.
public struct FieldValues {
    fileprivate let body: FieldReader

    private func find(_ tag: UInt8) -> UnsafeRawBufferPointer? {
        var rest = body
        while let field = try? rest.next() {
            if field.tag == tag { return field.value }
        }
        return nil
    }

    /// The values of a repeated field, in the order of the body.
    func each(_ tag: UInt8) -> [UnsafeRawBufferPointer] {
        var rest = body
        var values: [UnsafeRawBufferPointer] = []
        while let field = try? rest.next() {
            if field.tag == tag { values.append(field.value) }
        }
        return values
    }

    func texts(_ tag: UInt8) -> [String] { each(tag).map { String(decoding: $0, as: UTF8.self) } }

    subscript(tag: UInt8) -> UInt64? {
        find(tag).map { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
    subscript(tag: UInt8) -> Int64? {
        find(tag).map { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
    }
    subscript(tag: UInt8) -> String? { find(tag).map { String(decoding: $0, as: UTF8.self) } }
    subscript(tag: UInt8) -> [UInt8]? { find(tag).map { [UInt8]($0) } }

    // The table was checked, so a required field is always present.
    subscript(tag: UInt8) -> UInt64 { self[tag] ?? 0 }
    subscript(tag: UInt8) -> Int64 { self[tag] ?? 0 }
    subscript(tag: UInt8) -> String { self[tag] ?? "" }
    subscript(tag: UInt8) -> [UInt8] { self[tag] ?? [] }
    /// The value of a flag; an absent flag is false.
    subscript(tag: UInt8) -> Bool { find(tag).map { $0[0] == 1 } ?? false }
}
