/// Splits the output of a task into lines that are safe to show, and limits their length and number.
///
/// A line has at most 4 KiB of the task's bytes; longer lines are split. For each stream, 1 MiB is kept, and
/// then one line says how many bytes were dropped. Each line counts as at least 64 bytes, so that a stream
/// has at most 16,384 lines. Control characters, bidirectional controls and bytes that are not UTF-8 are
/// shown as escapes.
struct OutputLines: Sendable {
    /// The greatest length of a line, in bytes.
    static let maximumLine = 4096
    /// The number of bytes that are kept of each stream of a launch.
    static let maximumTotal = 1 << 20

    /// What a line costs at least, in bytes: about what the host needs to keep and to send an empty one.
    static let leastCost = 64

    private var line: [UInt8] = []
    private var taken = 0
    private var dropped = 0

    /// Adds bytes, and passes on each line that they complete.
    mutating func take(_ bytes: UnsafeRawBufferPointer, _ receive: (String) -> Void) {
        for (index, byte) in bytes.enumerated() {
            guard taken < Self.maximumTotal else {
                dropped += bytes.count - index
                return
            }
            taken += 1
            if byte == UInt8(ascii: "\n") {
                taken += max(0, Self.leastCost - line.count - 1)
                flush(receive)
            } else {
                line.append(byte)
                if line.count >= Self.maximumLine { flush(receive) }
            }
        }
    }

    /// Passes on the unfinished last line, and the number of dropped bytes.
    mutating func finish(_ receive: (String) -> Void) {
        if !line.isEmpty { flush(receive) }
        if dropped > 0 { receive("\(dropped) more bytes were dropped: the limit per stream is 1 MiB") }
        dropped = 0
    }

    private mutating func flush(_ receive: (String) -> Void) {
        receive(Self.harmless(line))
        line.removeAll(keepingCapacity: true)
    }

    /// The text with control characters and invisible characters shown as escapes.
    static func harmless(_ text: String) -> String { harmless(Array(text.utf8)) }

    /// The text with control characters, invisible characters and invalid UTF-8 shown as escapes.
    static func harmless(_ bytes: [UInt8]) -> String {
        // Printable ASCII is the usual case and needs no decoding.
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var result = ""
        var rest = bytes[...]
        while let byte = rest.first {
            if let (scalar, length) = decodeScalar(rest) {
                append(scalar, to: &result)
                rest = rest.dropFirst(length)
            } else {
                result += hexadecimalEscape(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func decodeScalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return (scalar, UTF8.width(scalar))
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x09:
            result.unicodeScalars.append(scalar)
        case 0..<0x20, 0x7F, 0x80...0x9F:
            result += hexadecimalEscape(UInt8(scalar.value))
        case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x061C, 0xFEFF:
            // Zero-width and bidirectional controls, line and paragraph separators.
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default:
            result.unicodeScalars.append(scalar)
        }
    }

    private static func hexadecimalEscape(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
