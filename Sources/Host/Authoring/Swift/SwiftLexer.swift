import StrictFiles

/// Splits a Swift file into tokens.
///
/// It recognizes comments, strings and regular expressions, so that their text is never taken for code. Any
/// bytes are accepted: those that are not valid Swift become signs, and an unterminated token ends with the
/// file.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0
    private var tokens: [SwiftToken] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Splits a file into tokens.
    static func tokens(of bytes: [UInt8]) -> [SwiftToken] {
        var lexer = Self(bytes)
        lexer.run()
        return lexer.tokens
    }

    private mutating func run() {
        // Skip a byte order mark, and the `#!` line of a script.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        if at("#!") { while let byte = peek(), byte != UInt8(ascii: "\n") { advance() } }
        while let byte = peek() { token(byte) }
    }

    private mutating func token(_ byte: UInt8) {
        let start = position
        let place = place
        switch byte {
        case _ where byte <= 0x20:
            advance()
        case UInt8(ascii: "/") where at("//"):
            while let next = peek(), next != UInt8(ascii: "\n") { advance() }
            add(.comment(text(from: start)), place)
        case UInt8(ascii: "/") where at("/*"):
            blockComment()
            add(.comment(text(from: start)), place)
        case UInt8(ascii: "/") where endOfRegularExpression() != nil:
            if let end = endOfRegularExpression() { while position < end { advance() } }
        case UInt8(ascii: "\""):
            string(pounds: 0, place)
        case UInt8(ascii: "#"):
            pound(place)
        case UInt8(ascii: "@"):
            advance()
            let name = takeWord()
            add(name.isEmpty ? .sign("@") : .attribute(name), place)
        case UInt8(ascii: "`"):
            advance()
            let from = position
            while let next = peek(), next != UInt8(ascii: "`"), next != UInt8(ascii: "\n") { advance() }
            add(.word(text(from: from)), place)
            advance()
        case _ where Self.isWord(byte):
            add(.word(takeWord()), place)
        default:
            advance()
            add(.sign(Character(Unicode.Scalar(byte))), place)
        }
    }

    /// Skips a block comment; such comments can be nested.
    private mutating func blockComment() {
        var depth = 0
        repeat {
            if at("/*") {
                depth += 1
                advance(2)
            } else if at("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && peek() != nil
    }

    private mutating func pound(_ place: Place) {
        var pounds = 0
        while peek(pounds) == UInt8(ascii: "#") { pounds += 1 }
        if peek(pounds) == UInt8(ascii: "\"") {
            advance(pounds)
            return string(pounds: pounds, place)
        }
        if peek(pounds) == UInt8(ascii: "/") {
            advance(pounds + 1)
            let end = "/" + String(repeating: "#", count: pounds)
            while peek() != nil, !at(end) { advance() }
            return advance(end.utf8.count)
        }
        advance()
        // `# if` is legal.
        while peek() == UInt8(ascii: " ") { advance() }
        let name = takeWord()
        switch name {
        case "if", "elseif":
            add(.directive(name, condition: restOfLine()), place)
        case "else", "endif":
            add(.directive(name, condition: ""), place)
        default:
            add(name.isEmpty ? .sign("#") : .hash(name), place)
        }
    }

    /// The text of a condition up to the end of the line, without comments.
    private mutating func restOfLine() -> String {
        var condition: [UInt8] = []
        while let byte = peek(), byte != UInt8(ascii: "\n"), !at("//") {
            if at("/*") {
                blockComment()
            } else {
                condition.append(byte)
                advance()
            }
        }
        let text = String(decoding: condition, as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Reads a string literal; `position` is at its first quotation mark.
    private mutating func string(pounds: Int, _ place: Place) {
        let tail = String(repeating: "#", count: pounds)
        let isMultiline = at("\"\"\"")
        let end = (isMultiline ? "\"\"\"" : "\"") + tail
        let escape = "\\" + tail
        advance(isMultiline ? 3 : 1)
        var value: [UInt8] = []
        var isWhole = true
        while let byte = peek(), !at(end) {
            if !isMultiline, byte == UInt8(ascii: "\n") { break }
            if at(escape + "(") {
                isWhole = false
                advance(escape.utf8.count + 1)
                interpolation()
            } else if at(escape) {
                advance(escape.utf8.count + 1)
                if isWhole { value.append(UInt8(ascii: "?")) }
            } else {
                if isWhole { value.append(byte) }
                advance()
            }
        }
        if at(end) { advance(end.utf8.count) }
        add(.string(String(decoding: value, as: UTF8.self), isWhole: isWhole), place)
    }

    /// Skips an interpolation and its closing bracket; brackets inside nested strings are not counted.
    private mutating func interpolation() {
        let count = tokens.count
        var depth = 1
        while let byte = peek(), depth > 0 {
            switch byte {
            case UInt8(ascii: "("): depth += 1; advance()
            case UInt8(ascii: ")"): depth -= 1; advance()
            default: token(byte)
            }
        }
        tokens.removeSubrange(count...)
    }

    /// The end of a regular expression literal `/.../`, if one begins at `position`.
    ///
    /// The literal must be on one line, and must not follow a token that ends a value (else `/` is a
    /// division).
    private func endOfRegularExpression() -> Int? {
        if let last = tokens.last(where: { if case .comment = $0.kind { false } else { true } }) {
            guard case .sign(let sign) = last.kind, "(,=:[{!&|?;".contains(sign) else { return nil }
        }
        guard let next = peek(1), next > 0x20 else { return nil }
        var index = position + 1
        var isInClass = false
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "/") where !isInClass: return index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    // MARK: Bytes

    private var place: Place { Place(line: line, column: position - lineStart + 1) }

    private func peek(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private func at(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                lineStart = position
            }
        }
    }

    private mutating func takeWord() -> String {
        let start = position
        while let byte = peek(), Self.isWord(byte) { advance() }
        return text(from: start)
    }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<position], as: UTF8.self) }

    private mutating func add(_ kind: SwiftToken.Kind, _ place: Place) {
        tokens.append(SwiftToken(kind: kind, place: place))
    }

    /// Whether the byte belongs to a word: a letter, a digit, `_`, `$`, or any byte that is not ASCII.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
