/// Reads single values of a payload, for expressions of `when:`.
///
/// This is a scanner instead of a decoder, because the scheduler uses no Foundation. It takes time in
/// proportion to the length of the payload, which is limited, and it never fails: what it can't read is
/// unknown.
public struct PayloadFacts: Equatable, Sendable {
    private var values: [String: WhenValue] = [:]

    /// Reads the values of some keys of the outermost object.
    ///
    /// - Parameters:
    ///   - json: The payload; `nil` has no values.
    ///   - keys: The keys to read.
    public init(_ json: String?, keys: Set<String>) {
        guard let json, !keys.isEmpty else { return }
        var scanner = JSONScanner(json)
        scanner.readObject { key, value in if keys.contains(key) { values[key] = value } }
    }

    /// The value of a key; `nil` if the payload does not have it, or if it is an object, a list or null.
    public subscript(key: String) -> WhenValue? { values[key] }

    /// A payload with these values alone, as JSON; `nil` if there are none.
    ///
    /// Recordings contain it in place of the whole payload.
    public var json: String? {
        if values.isEmpty { return nil }
        let parts = values.sorted { $0.key < $1.key }.map { key, value in
            "\(Self.quoted(key)):\(Self.json(value))"
        }
        return "{\(parts.joined(separator: ","))}"
    }

    /// A payload with some of its keys set to values, as JSON; all other members stay as they are.
    ///
    /// - Parameters:
    ///   - json: The payload; `nil` is an empty one.
    ///   - values: The values; of two for one key, the last one counts.
    /// - Returns: The changed payload.
    public static func text(_ json: String?, setting values: [(key: String, value: WhenValue)]) -> String {
        let new = Dictionary(values.map { ($0.key, Self.json($0.value)) }) { $1 }
        var parts: [String] = []
        var scanner = JSONScanner(json ?? "{}")
        scanner.readMembers { key, value in
            if new[key] == nil { parts.append("\(quoted(key)): \(value)") }
        }
        parts += new.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \($0.value)" }
        return "{\(parts.joined(separator: ", "))}"
    }

    private static func json(_ value: WhenValue) -> String {
        switch value {
        case .boolean(let flag): "\(flag)"
        case .number(let number):
            Int64(exactly: number).map { "\($0)" } ?? (number.isFinite ? "\(number)" : "null")
        case .text(let text): quoted(text)
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// Scans a JSON object from left to right, without recursion.
private struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard byte == UInt8(ascii: sign) else { return false }
        index += 1
        return true
    }

    /// Reads the keys and plain values of the object, up to the first mistake.
    mutating func readObject(_ found: (String, WhenValue) -> Void) {
        guard take("{") else { return }
        while let key = string(), take(":") {
            skipBlanks()
            switch byte {
            case UInt8(ascii: "\""): if let text = string() { found(key, .text(text)) }
            case UInt8(ascii: "{"), UInt8(ascii: "["): skipNested()
            default:
                switch word() {
                case "true": found(key, .boolean(true))
                case "false": found(key, .boolean(false))
                case let word: if let number = Double(word), number.isFinite { found(key, .number(number)) }
                }
            }
            guard take(",") else { return }
        }
    }

    /// Reads the keys of the object with the text of their values, up to the first mistake.
    mutating func readMembers(_ found: (String, String) -> Void) {
        guard take("{") else { return }
        while let key = string(), take(":") {
            skipBlanks()
            let start = index
            switch byte {
            case UInt8(ascii: "\""): _ = string()
            case UInt8(ascii: "{"), UInt8(ascii: "["): skipNested()
            default: _ = word()
            }
            found(key, String(decoding: bytes[start..<index], as: UTF8.self))
            guard take(",") else { return }
        }
    }

    private mutating func word() -> String {
        let start = index
        while let byte, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"), byte > 0x20 { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Skips an object or a list, whatever its depth.
    private mutating func skipNested() {
        var depth = 0
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                if string() == nil { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
            if depth == 0 { return }
        }
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var units: [UInt8] = []
        while let byte {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                units.append(contentsOf: Array(String(scalar).utf8))
            default: units.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte else { return nil }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            guard let first = unit() else { return nil }
            guard (0xD800...0xDBFF).contains(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
            guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u")
            else { return "\u{FFFD}" }
            index += 2
            guard let second = unit() else { return nil }
            guard (0xDC00...0xDFFF).contains(second) else { return "\u{FFFD}" }
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        default: return Unicode.Scalar(byte)
        }
    }

    /// The four hexadecimal digits of an escape.
    private mutating func unit() -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        defer { index += 4 }
        return UInt32(String(decoding: bytes[index..<(index + 4)], as: UTF8.self), radix: 16)
    }
}
