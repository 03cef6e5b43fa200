/// The number and the checksum at the end of a line of a log.
///
/// A line is one JSON object. Its last keys are `n`, the number of the event, and `crc`, the CRC-32 of all
/// bytes before it: `{...,"n":17,"crc":"8f3a0c21"}`. The header of a segment has only the checksum.
enum LineSeal {
    private static let number = Array(#","n":"#.utf8)
    private static let checksum = Array(#","crc":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    /// Adds the number and the checksum to a JSON object, and the line break.
    static func close(_ object: [UInt8], number: Int64?) -> [UInt8] {
        var line = object
        line.removeLast()
        if let number {
            line += Self.number
            line += Array(String(number).utf8)
        }
        let sum = CRC32.checksum(of: line[...])
        line += checksum
        line += hex(sum)
        line += end
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Checks the checksum of a line without its line break.
    ///
    /// - Returns: Whether the checksum is right, and the number of the event, which is `nil` for a header and
    ///   for a damaged line.
    static func open(_ line: ArraySlice<UInt8>) -> (isSound: Bool, number: Int64?) {
        let length = checksum.count + 8 + end.count
        guard line.count > length else { return (false, nil) }
        let body = line.dropLast(length)
        guard line[body.endIndex...].elementsEqual(checksum + hex(CRC32.checksum(of: body)) + end) else {
            return (false, nil)
        }
        let digits = body.suffix(19 + number.count).reversed().prefix { (0x30...0x39).contains($0) }
        guard body.dropLast(digits.count).suffix(number.count).elementsEqual(number) else {
            return (true, nil)
        }
        return (true, Int64(String(decoding: digits.reversed(), as: UTF8.self)))
    }

    private static func hex(_ value: UInt32) -> [UInt8] {
        let text = String(value, radix: 16)
        return Array((String(repeating: "0", count: 8 - text.utf8.count) + text).utf8)
    }
}

/// The cyclic redundancy check of 32 bits of Ethernet and gzip (RFC 1952, section 8).
enum CRC32 {
    /// The remainder of each byte; the polynomial is 0xEDB88320, with its bits reversed.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
        }
    }

    static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = table
        return ~bytes.reduce(~0) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
    }
}
