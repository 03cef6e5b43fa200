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
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x80 {
                let isPlain = byte >= 0x20 && byte != 0x7F || byte == 0x09
                if isPlain { text.append(byte) } else { escape(byte, &text) }
                index += 1
            } else if let (scalar, length) = scalar(at: index, in: bytes) {
                switch scalar.value {
                case 0x80...0x9F:
                    escape(UInt8(scalar.value), &text)
                case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x061C, 0xFEFF:
                    // Zero-width and bidirectional controls, line and paragraph separators.
                    text += "\\u{\(String(scalar.value, radix: 16))}".utf8
                default:
                    text += bytes[index..<index + length]
                }
                index += length
            } else {
                escape(byte, &text)
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The scalar of more than one byte that begins at an index, and its length; `nil` if it is not valid.
    private static func scalar(at index: Int, in bytes: [UInt8]) -> (Unicode.Scalar, length: Int)? {
        let first = bytes[index]
        let (length, least): (Int, UInt32)
        switch first {
        case 0xC2...0xDF: (length, least) = (2, 0x80)
        case 0xE0...0xEF: (length, least) = (3, 0x800)
        case 0xF0...0xF4: (length, least) = (4, 0x1_0000)
        default: return nil
        }
        guard index + length <= bytes.count else { return nil }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for byte in bytes[index + 1..<index + length] {
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return value < least ? nil : Unicode.Scalar(value).map { ($0, length) }
    }

    private static func escape(_ byte: UInt8, _ text: inout [UInt8]) {
        // One by one, because an array for each byte would cost ten times as much.
        text.append(UInt8(ascii: "\\"))
        text.append(UInt8(ascii: "x"))
        text.append(digit(byte >> 4))
        text.append(digit(byte & 15))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
