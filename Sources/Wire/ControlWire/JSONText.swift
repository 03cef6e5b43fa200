/// JSON that is written piece by piece, without an encoder.
///
/// It is for listings of very many rows, where an encoder would take most of the time.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// Adds a piece as it is.
    mutating func raw(_ piece: StaticString) {
        piece.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Adds a string, or `null`.
    mutating func string(_ string: String?) {
        guard let string else { return raw("null") }
        bytes.appendJSON(string)
    }

    /// Adds an integer, or `null`.
    mutating func number(_ number: Int64?) {
        guard let number else { return raw("null") }
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds an array of strings.
    mutating func strings(_ strings: some Sequence<String>) {
        raw("[")
        for (index, string) in strings.enumerated() {
            if index > 0 { raw(",") }
            self.string(string)
        }
        raw("]")
    }
}
