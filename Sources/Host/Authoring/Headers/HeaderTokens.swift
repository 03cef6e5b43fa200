/// A token of a preprocessed header.
struct HeaderToken {
    enum Kind {
        case word, number, text, sign
    }

    var kind: Kind
    var text: String
    /// The index of the file in ``HeaderTokens/files``, and the line in it.
    var file: Int
    var line: Int
}

/// The tokens and macros of what `cc -E -dD` prints.
///
/// It reads any bytes: what is not C becomes tokens that no declaration begins with.
struct HeaderTokens {
    private(set) var tokens: [HeaderToken] = []
    private(set) var files: [String] = []
    private(set) var macros: [String: HeaderMacro] = [:]

    private let bytes: [UInt8]
    private var at = 0
    private var file = 0
    private var line = 1
    private var numbers: [String: Int] = [:]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        enter("")
        var isLineStart = true
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\n") {
                line += 1
                at += 1
                isLineStart = true
            } else if byte <= 0x20 {
                at += 1
            } else if isLineStart, byte == UInt8(ascii: "#") {
                directive()
            } else {
                isLineStart = false
                token(byte)
            }
        }
    }

    private mutating func enter(_ path: String) {
        file = numbers[path] ?? files.count
        if file == files.count {
            files.append(path)
            numbers[path] = file
        }
    }

    private mutating func token(_ first: UInt8) {
        let start = at
        let kind: HeaderToken.Kind
        if Self.isWord(first), !Self.isDigit(first) {
            skip(while: Self.isWord)
            kind = .word
        } else if Self.isDigit(first) {
            skip { Self.isWord($0) || $0 == UInt8(ascii: ".") }
            kind = .number
        } else if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            literal(first)
            kind = .text
        } else if bytes[at...].starts(with: Array("...".utf8)) {
            at += 3
            kind = .sign
        } else {
            at += 1
            kind = .sign
        }
        tokens.append(
            HeaderToken(
                kind: kind, text: String(decoding: bytes[start..<at], as: UTF8.self), file: file, line: line))
    }

    private mutating func literal(_ quote: UInt8) {
        at += 1
        while at < bytes.count, bytes[at] != quote, bytes[at] != UInt8(ascii: "\n") {
            at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        at = min(at + 1, bytes.count)
    }

    /// Reads a line marker (`# 12 "/usr/include/zlib.h" 1 3`), a definition, or another directive.
    private mutating func directive() {
        let start = at
        skip { $0 != UInt8(ascii: "\n") }
        let text = String(decoding: bytes[start..<at], as: UTF8.self).dropFirst()
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        if let number = words.first.flatMap({ Int($0) }) {
            // The newline behind the marker counts one more.
            line = max(number, 1) - 1
            if let quote = text.firstIndex(of: "\"") {
                enter(String(text[text.index(after: quote)...].prefix { $0 != "\"" }))
            }
        } else if words.count > 1, words[0] == "define" {
            define(text.drop { $0 == " " }.dropFirst("define ".count))
        } else if words.count > 1, words[0] == "undef" {
            macros[String(words[1])] = nil
        }
    }

    private mutating func define(_ text: Substring) {
        let name = text.prefix { $0.utf8.allSatisfy(Self.isWord) }
        var rest = text[name.endIndex...]
        let hasParameters = rest.first == "("
        if hasParameters { rest = rest.drop { $0 != ")" }.dropFirst() }
        let replacement = rest.drop { $0 == " " }
        macros[String(name)] = HeaderMacro(
            name: String(name), hasParameters: hasParameters, replacement: String(replacement.prefix(200)))
    }

    private mutating func skip(while matches: (UInt8) -> Bool) {
        while at < bytes.count, matches(bytes[at]) { at += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
            || byte == 0x24 || byte >= 0x80
    }
}
