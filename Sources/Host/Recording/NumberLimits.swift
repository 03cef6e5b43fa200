/// The limits of numbers in the lines of a log.
///
/// A log can come from anybody, and its checksums are no proof of its origin. Sums of its times must not
/// overflow, which would end the program. The limits are far beyond everything that a host writes.
enum NumberLimits {
    /// The greatest time, as the upper half of a number of attoseconds: about 40,000 years.
    private static let mostOfTime: Int64 = 1 << 36
    /// The greatest count: 2^53, as in JavaScript.
    private static let mostOfCount: Int64 = 1 << 53
    /// The greatest number with a fraction or an exponent.
    private static let mostOfDecimal = 1e15
    /// The keys of numbers that handlers and machines choose; the code that reads them permits all values.
    private static let free = ["completed", "total", "bytes"].map { Array($0.utf8) }

    /// Finds the first number of a line that is out of range.
    ///
    /// - Parameter line: A JSON object. What is wrong in it beside numbers is not found here.
    /// - Returns: The number as text; `nil` if there is none.
    static func excess(in line: ArraySlice<UInt8>) -> String? {
        var reader = Reader(bytes: line)
        return reader.excess()
    }

    private struct Reader {
        let bytes: ArraySlice<UInt8>
        var position: Int
        /// The last string, which is the key of the next number.
        var key: ArraySlice<UInt8> = []

        init(bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            position = bytes.startIndex
        }

        mutating func excess() -> String? {
            while position < bytes.endIndex {
                switch bytes[position] {
                case UInt8(ascii: "\""): skipString()
                case UInt8(ascii: "["):
                    position += 1
                    if let found = excessOfTime() { return found }
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let text = number()
                    // The clocks of the line are 64-bit nanoseconds, which are 292 years at most.
                    let isFree = free.contains { $0.elementsEqual(key) } || key.elementsEqual("at".utf8)
                    if !isFree, !NumberLimits.isCount(text) { return text }
                default: position += 1
                }
            }
            return nil
        }

        private mutating func skipString() {
            position += 1
            let start = position
            while position < bytes.endIndex, bytes[position] != UInt8(ascii: "\"") {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            position = min(position, bytes.endIndex)
            key = bytes[start..<position]
            position += 1
        }

        private mutating func number() -> String {
            let start = position
            while position < bytes.endIndex, "+-.0123456789eE".utf8.contains(bytes[position]) {
                position += 1
            }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        /// Reads a time, which is an array of two whole numbers, if there is one.
        ///
        /// Its second number has 64 bits and any value.
        private mutating func excessOfTime() -> String? {
            let start = position
            let high = number()
            guard !high.isEmpty, position < bytes.endIndex, bytes[position] == UInt8(ascii: ",") else {
                position = start
                return nil
            }
            position += 1
            let low = number()
            guard UInt64(low) != nil, position < bytes.endIndex, bytes[position] == UInt8(ascii: "]") else {
                position = start
                return nil
            }
            guard let value = Int64(high), (-mostOfTime...mostOfTime).contains(value) else {
                return "[\(high),\(low)]"
            }
            return nil
        }
    }

    private static func isCount(_ text: String) -> Bool {
        if let whole = Int64(text) { return (-mostOfCount...mostOfCount).contains(whole) }
        return Double(text).map { abs($0) <= mostOfDecimal } ?? false
    }
}
