/// A word or sign of an expression.
struct WhenToken: Equatable {
    enum Kind: Equatable {
        /// A name or a word: `battery`, `and`, `payload.urgent`.
        case name
        /// A number with its unit: `40`, `40%`, `2GiB`.
        case number
        /// A text, without its quotation marks.
        case text
        /// A comparison.
        case comparison(WhenComparison)
        case open, close, end
    }

    var kind: Kind
    var text: String
    /// The position in characters, counted from 1.
    var column: Int
}

/// Splits an expression into tokens.
enum WhenLexer {
    static func tokens(of text: String, longest: Int) throws(WhenError) -> [WhenToken] {
        guard text.utf8.count <= longest else {
            throw WhenError(
                column: 1,
                finding: "the expression has \(text.utf8.count) bytes; the limit is \(longest)",
                remedy: "Shorten it, or let a custom condition check a part of it with a program")
        }
        // Scalars, because a letter and an accent can be one character, and each is an error by itself.
        let scalars = Array(text.unicodeScalars)
        var tokens: [WhenToken] = []
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            if scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" {
                index += 1
                continue
            }
            let token = try token(in: scalars, at: &index)
            tokens.append(token)
        }
        tokens.append(WhenToken(kind: .end, text: "", column: scalars.count + 1))
        return tokens
    }

    private static func token(
        in scalars: [Unicode.Scalar], at index: inout Int
    ) throws(WhenError) -> WhenToken {
        let (start, first) = (index, scalars[index])
        func run(_ isPart: (Unicode.Scalar) -> Bool) -> String {
            while index < scalars.count, isPart(scalars[index]) { index += 1 }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars[start..<index])
            return text
        }
        let next = index + 1 < scalars.count ? scalars[index + 1] : nil
        let column = start + 1
        if isLetter(first) {
            let text = run(isInName)
            return WhenToken(kind: .name, text: text, column: column)
        }
        if isDigit(first) || (first == "-" && next.map(isDigit) == true) {
            index += 1
            _ = run { isLetter($0) || isDigit($0) || $0 == "." }
            // A sign ends the number: `40%and` is two words.
            if index < scalars.count, scalars[index] == "%" { index += 1 }
            let text = run { _ in false }
            return WhenToken(kind: .number, text: text, column: column)
        }
        if first == "\"" || first == "'" { return try quoted(in: scalars, at: &index) }
        index += 1
        switch first {
        case "(": return WhenToken(kind: .open, text: "(", column: column)
        case ")": return WhenToken(kind: .close, text: ")", column: column)
        default: break
        }
        let pair = next.map { "\(first)\($0)" } ?? ""
        if let comparison = WhenComparison(rawValue: pair) {
            index += 1
            return WhenToken(kind: .comparison(comparison), text: pair, column: column)
        }
        if let comparison = WhenComparison(rawValue: "\(first)") {
            return WhenToken(kind: .comparison(comparison), text: "\(first)", column: column)
        }
        let remedy =
            switch first {
            case "=": "Write '==' to compare"
            case "&": "Write 'and'"
            case "|": "Write 'or'"
            case "!" where next.map(isLetter) == true:
                "Write 'not "
                    + String(String.UnicodeScalarView(scalars[index...].prefix(while: isInName))) + "'"
            case "!": "Write 'not', or '!=' to compare"
            case "%": "Write the sign directly after its number: 40%"
            default: "Use names, numbers, texts, comparisons and parentheses"
            }
        let shown = first.value < 0x20 || first.value == 0x7F ? "a control character" : "'\(first)'"
        throw WhenError(column: column, finding: "\(shown) has no meaning here", remedy: remedy)
    }

    private static func quoted(
        in scalars: [Unicode.Scalar], at index: inout Int
    ) throws(WhenError) -> WhenToken {
        let (start, mark) = (index, scalars[index])
        index += 1
        var text = ""
        while index < scalars.count {
            defer { index += 1 }
            if scalars[index] == mark { return WhenToken(kind: .text, text: text, column: start + 1) }
            text.unicodeScalars.append(scalars[index])
        }
        throw WhenError(
            column: start + 1, finding: "the text that begins here has no end",
            remedy: "Add the second quotation mark: \(mark)")
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || isDigit(scalar) || scalar == "." || scalar == "-" || scalar == "_"
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
