/// Encodes values as JSON on one line, with the keys of each object in the order of their bytes.
///
/// It writes the same bytes as Foundation's `JSONEncoder` with sorted keys and plain slashes, in a third of
/// the time: values go directly into the text, not into a tree. A host that records its events or lists its
/// requests spends most of its time there. Types that `JSONEncoder` treats specially (`Data`, `Date`, `URL`
/// and `Decimal`) are not supported, and no message contains them.
///
/// A writer keeps its buffers, so use one for many values. It is not safe to use it from two threads.
public struct JSONWriter {
    private let buffers = JSONBuffers()

    /// Creates a writer.
    public init() {}

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` for a number that JSON does not have; or the value's own error.
    public func bytes(of value: some Encodable) throws -> [UInt8] {
        var text: [UInt8] = []
        try write(value, to: &text)
        return text
    }

    /// Appends an encoded value to a text.
    ///
    /// - Throws: See ``bytes(of:)``; the text is unchanged then.
    public func write(_ value: some Encodable, to text: inout [UInt8]) throws {
        try buffers.write(value, to: &text)
    }
}

/// Buffers that are not in use, so that an encoded value needs no new ones.
private final class JSONBuffers {
    private var free: [JSONBuffer] = []

    func write(_ value: some Encodable, to text: inout [UInt8]) throws {
        let buffer = free.popLast() ?? JSONBuffer(self)
        defer {
            buffer.clear()
            free.append(buffer)
        }
        try value.encode(to: JSONValueEncoder(buffer: buffer))
        buffer.finish(to: &text)
    }
}

/// A value that is being written.
///
/// A container has no end in Swift's model of encoding. So a list or an object is a sequence of parts, and
/// its brackets and commas are added when its value returns.
private final class JSONBuffer {
    enum Shape { case empty, value, list, object }

    private struct Part {
        var key = ""
        var range: Range<Int>
        /// A container that was handed out as this part, and may still grow.
        var nested: JSONBuffer?
    }

    var shape = Shape.empty
    private var text: [UInt8] = []
    private var parts: [Part] = []
    private unowned let buffers: JSONBuffers

    init(_ buffers: JSONBuffers) { self.buffers = buffers }

    var count: Int { parts.count }

    func clear() {
        shape = .empty
        text.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
    }

    /// Adds a part, whose text `body` appends.
    func add(_ key: String = "", _ body: (inout [UInt8]) -> Void) {
        let start = text.count
        body(&text)
        parts.append(Part(key: key, range: start..<text.count))
    }

    func add(_ key: String = "", _ value: some Encodable) throws {
        let start = text.count
        try buffers.write(value, to: &text)
        parts.append(Part(key: key, range: start..<text.count))
    }

    /// Adds a container as a part.
    func nest(_ key: String = "") -> JSONBuffer {
        let nested = JSONBuffer(buffers)
        parts.append(Part(key: key, range: text.count..<text.count, nested: nested))
        return nested
    }

    func set(_ body: (inout [UInt8]) -> Void) {
        shape = .value
        text.removeAll(keepingCapacity: true)
        body(&text)
    }

    func set(_ value: some Encodable) throws {
        shape = .value
        text.removeAll(keepingCapacity: true)
        try buffers.write(value, to: &text)
    }

    /// Appends the complete value.
    func finish(to output: inout [UInt8]) {
        switch shape {
        // A value that encodes nothing is an empty object, as in Foundation.
        case .empty: output.append(contentsOf: "{}".utf8)
        case .value: output.append(contentsOf: text)
        case .list:
            output.append(UInt8(ascii: "["))
            for (index, part) in parts.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(part, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object:
            sort()
            output.append(UInt8(ascii: "{"))
            for (index, part) in parts.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.appendJSON(part.key)
                output.append(UInt8(ascii: ":"))
                write(part, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private func write(_ part: Part, to output: inout [UInt8]) {
        if let nested = part.nested {
            nested.finish(to: &output)
        } else {
            output.append(contentsOf: text[part.range])
        }
    }

    /// Sorts the parts of an object by key; of two with the same key, the later one counts.
    private func sort() {
        var isSorted = true
        for index in parts.indices.dropFirst() where isSorted {
            isSorted = Self.precedes(parts[index - 1].key, parts[index].key)
        }
        if isSorted { return }
        // Insertion, because most objects have few keys in nearly the right order, and it is stable.
        var sorted: [Part] = []
        sorted.reserveCapacity(parts.count)
        for part in parts {
            var place = sorted.endIndex
            while place > 0, Self.precedes(part.key, sorted[place - 1].key) { place -= 1 }
            if place > 0, sorted[place - 1].key == part.key {
                sorted[place - 1] = part
            } else {
                sorted.insert(part, at: place)
            }
        }
        parts = sorted
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension [UInt8] {
    /// Appends a JSON string.
    mutating func appendJSON(_ string: String) {
        append(UInt8(ascii: "\""))
        let isPlain =
            string.utf8.withContiguousStorageIfAvailable { bytes in
                guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) else { return false }
                append(contentsOf: bytes)
                return true
            } ?? false
        if !isPlain { for byte in string.utf8 { appendEscaped(byte) } }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(contentsOf: [UInt8(ascii: "\\"), byte])
        case 0x08: append(contentsOf: #"\b"#.utf8)
        case 0x09: append(contentsOf: #"\t"#.utf8)
        case 0x0A: append(contentsOf: #"\n"#.utf8)
        case 0x0C: append(contentsOf: #"\f"#.utf8)
        case 0x0D: append(contentsOf: #"\r"#.utf8)
        case 0..<0x20:
            append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
            append(contentsOf: String(byte, radix: 16).utf8)
        default: append(byte)
        }
    }

    fileprivate mutating func appendJSON(_ value: Bool) {
        append(contentsOf: (value ? "true" : "false").utf8)
    }

    fileprivate mutating func appendJSON(_ value: some BinaryInteger) {
        append(contentsOf: value.description.utf8)
    }

    fileprivate mutating func appendNull() { append(contentsOf: "null".utf8) }
}

/// A number that need not be an integer, as JSON text.
private struct JSONNumber {
    let text: Substring.UTF8View

    init(_ value: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "JSON has no number \(value)"))
        }
        let text = value.description
        self.text = (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8
    }
}

/// The encoder of one value.
private struct JSONValueEncoder: Encoder {
    let buffer: JSONBuffer

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.shape = .object
        return KeyedEncodingContainer(JSONObject<Key>(buffer: buffer))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.shape = .list
        return JSONList(buffer: buffer)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONValue(buffer: buffer) }
}

private struct JSONObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let buffer: JSONBuffer

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { buffer.add(key.stringValue) { $0.appendNull() } }
    func encode(_ value: Bool, forKey key: Key) { buffer.add(key.stringValue) { $0.appendJSON(value) } }
    func encode(_ value: String, forKey key: Key) { buffer.add(key.stringValue) { $0.appendJSON(value) } }
    func encode(_ value: Int, forKey key: Key) { buffer.add(key.stringValue) { $0.appendJSON(value) } }
    func encode(_ value: Int64, forKey key: Key) { buffer.add(key.stringValue) { $0.appendJSON(value) } }
    func encode(_ value: UInt64, forKey key: Key) { buffer.add(key.stringValue) { $0.appendJSON(value) } }

    func encode(_ value: Double, forKey key: Key) throws {
        let number = try JSONNumber(value)
        buffer.add(key.stringValue) { $0.append(contentsOf: number.text) }
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try buffer.add(key.stringValue, value)
    }

    func nestedContainer<Other: CodingKey>(keyedBy type: Other.Type, forKey key: Key)
        -> KeyedEncodingContainer<Other>
    {
        JSONValueEncoder(buffer: buffer.nest(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONValueEncoder(buffer: buffer.nest(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONValueEncoder(buffer: buffer.nest("super")) }

    func superEncoder(forKey key: Key) -> any Encoder {
        JSONValueEncoder(buffer: buffer.nest(key.stringValue))
    }
}

private struct JSONList: UnkeyedEncodingContainer {
    let buffer: JSONBuffer

    var codingPath: [any CodingKey] { [] }
    var count: Int { buffer.count }

    func encodeNil() { buffer.add { $0.appendNull() } }
    func encode(_ value: Bool) { buffer.add { $0.appendJSON(value) } }
    func encode(_ value: String) { buffer.add { $0.appendJSON(value) } }
    func encode(_ value: Int) { buffer.add { $0.appendJSON(value) } }
    func encode(_ value: Int64) { buffer.add { $0.appendJSON(value) } }
    func encode(_ value: UInt64) { buffer.add { $0.appendJSON(value) } }
    func encode(_ value: some Encodable) throws { try buffer.add("", value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        JSONValueEncoder(buffer: buffer.nest()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONValueEncoder(buffer: buffer.nest()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONValueEncoder(buffer: buffer.nest()) }
}

/// A value that is neither a list nor an object; all other numbers than these are encoded as such values.
private struct JSONValue: SingleValueEncodingContainer {
    let buffer: JSONBuffer

    var codingPath: [any CodingKey] { [] }

    func encodeNil() { buffer.set { $0.appendNull() } }
    func encode(_ value: Bool) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: String) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: Int) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: Int8) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: Int16) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: Int32) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: Int64) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: UInt) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: UInt8) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: UInt16) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: UInt32) { buffer.set { $0.appendJSON(value) } }
    func encode(_ value: UInt64) { buffer.set { $0.appendJSON(value) } }

    func encode(_ value: Double) throws {
        let number = try JSONNumber(value)
        buffer.set { $0.append(contentsOf: number.text) }
    }

    func encode(_ value: Float) throws {
        let number = try JSONNumber(value)
        buffer.set { $0.append(contentsOf: number.text) }
    }

    func encode(_ value: some Encodable) throws { try buffer.set(value) }
}
