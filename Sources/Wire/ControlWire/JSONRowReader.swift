import TaskModel

/// Reads the values of one JSON array of strings, integers, `null`, `true`, `false` and arrays of strings,
/// from left to right, without a decoder.
///
/// It is for rows of very long listings, which a decoder reads ten times slower. It accepts no spaces between
/// values, because hosts write none.
struct JSONRowReader {
    /// The text is not a row of the expected form.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let bytes: ArraySlice<UInt8>
    private var place: Int
    private var isFirst = true

    /// Begins to read a row.
    ///
    /// - Parameter bytes: The row, from its opening to its closing bracket.
    /// - Throws: ``Failure`` if it begins with no bracket.
    init(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        self.bytes = bytes
        place = bytes.startIndex
        try take("[")
    }

    /// The next value, which is a string.
    mutating func string() throws(Failure) -> String {
        try comma()
        return try text()
    }

    /// The next value, which is a string or `null`.
    mutating func optionalString() throws(Failure) -> String? {
        try comma()
        return try takeNull() ? nil : text()
    }

    /// The next value, which is an integer.
    mutating func number() throws(Failure) -> Int64 {
        try comma()
        return try digits()
    }

    /// The next value, which is an integer or `null`.
    mutating func optionalNumber() throws(Failure) -> Int64? {
        try comma()
        return try takeNull() ? nil : digits()
    }

    /// The next value, which is `true` or `false`.
    mutating func flag() throws(Failure) -> Bool {
        try comma()
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw failure("true or false")
    }

    /// The next value, which is an array of strings.
    mutating func strings() throws(Failure) -> [String] {
        try comma()
        try take("[")
        var strings: [String] = []
        while peek != UInt8(ascii: "]") {
            if !strings.isEmpty { try take(",") }
            strings.append(try text())
        }
        place += 1
        return strings
    }

    /// The next value, which is a word of an enumeration.
    mutating func word<Word: RawRepresentable>(_: Word.Type = Word.self) throws(Failure) -> Word
    where Word.RawValue == String {
        try known(string())
    }

    /// The next value, which is a word of an enumeration or `null`.
    mutating func optionalWord<Word: RawRepresentable>(_: Word.Type = Word.self) throws(Failure) -> Word?
    where Word.RawValue == String {
        guard let text = try optionalString() else { return nil }
        return try known(text)
    }

    /// Checks that the row has no less than the values that were read; further ones come from a newer host.
    func end() throws(Failure) {
        guard peek == UInt8(ascii: "]") || peek == UInt8(ascii: ","), bytes.last == UInt8(ascii: "]") else {
            throw failure("the end of the row")
        }
    }

    /// An error about the value at this place.
    func failure(_ expected: String) -> Failure {
        Failure(description: "a row has not \(expected) at byte \(place - bytes.startIndex)")
    }

    private func known<Word: RawRepresentable>(_ text: String) throws(Failure) -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw Failure(
                description: "a row has the unknown word \(Printable.text(text, maximumLength: 64))")
        }
        return word
    }

    private var peek: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

    private mutating func comma() throws(Failure) {
        if !isFirst { try take(",") }
        isFirst = false
    }

    private mutating func take(_ character: Unicode.Scalar) throws(Failure) {
        guard peek == UInt8(ascii: character) else { throw failure("'\(character)'") }
        place += 1
    }

    private mutating func takeNull() -> Bool { takeWord("null") }

    private mutating func takeWord(_ word: String) -> Bool {
        guard bytes[place...].starts(with: word.utf8) else { return false }
        place += word.utf8.count
        return true
    }

    private mutating func digits() throws(Failure) -> Int64 {
        let isNegative = peek == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let start = place
        var value: Int64 = 0
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - UInt8(ascii: "0"))
            // Downwards, because the smallest number has no positive counterpart.
            let (sum, isTooSmall) = product.subtractingReportingOverflow(digit)
            guard !isTooLarge, !isTooSmall else { throw failure("an integer of 64 bits") }
            value = sum
            place += 1
        }
        guard place > start, isNegative || value != .min else { throw failure("an integer") }
        return isNegative ? value : -value
    }

    private mutating func text() throws(Failure) -> String {
        try take("\"")
        let start = place
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { place += 1 }
        if peek == UInt8(ascii: "\"") {
            defer { place += 1 }
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }
        var text = Array(bytes[start..<place])
        while let byte = peek {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(&text)
            default: text.append(byte)
            }
        }
        throw failure("the end of a string")
    }

    /// Adds the character of an escape sequence, of which the backslash was read.
    private mutating func escape(_ text: inout [UInt8]) throws(Failure) {
        guard let byte = peek else { throw failure("an escape sequence") }
        place += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "u"):
            // A host escapes only control characters in this way, which are single bytes of UTF-8.
            let digits = String(decoding: bytes[place...].prefix(4), as: UTF8.self)
            guard digits.utf8.count == 4, let code = UInt8(digits, radix: 16), code < 0x80 else {
                throw failure("a control character")
            }
            text.append(code)
            place += 4
        default: throw failure("an escape sequence")
        }
    }
}
