import TaskModel

/// The declarations of a header.
struct HeaderDeclarations {
    var functions: [String: HeaderFunction] = [:]
    var macros: [String: HeaderMacro] = [:]
    var structs = HeaderStructs()
}

/// Reads the declarations of a preprocessed header: functions, structs and typedefs.
///
/// It does not check that the text is C. A declaration that it can't read is skipped, up to its semicolon.
struct HeaderParser {
    /// A declaration that is not understood.
    struct Failure: Error {}

    /// How deep declarators, structs and parameters may be nested.
    static let deepest = 64

    let tokens: [HeaderToken]
    let files: [String]
    var at = 0
    var depth = 0
    var typedefs: [String: HeaderType] = ["__builtin_va_list": .other("va_list")]
    var found = HeaderDeclarations()
    /// Counts the structs without a tag.
    var unnamed = 0

    /// Reads what the preprocessor printed with the option `-dD`.
    static func read(_ bytes: [UInt8]) -> HeaderDeclarations {
        let read = HeaderTokens(bytes)
        var parser = HeaderParser(tokens: read.tokens, files: read.files)
        parser.found.macros = read.macros
        while parser.at < parser.tokens.count {
            let start = parser.at
            do throws(Failure) {
                try parser.external()
            } catch {
                parser.at = start
                parser.depth = 0
                parser.skipDeclaration()
            }
            if parser.at == start { parser.at += 1 }
        }
        return parser.found
    }

    private init(tokens: [HeaderToken], files: [String]) {
        self.tokens = tokens
        self.files = files
    }

    // MARK: Tokens

    /// The text of the present token; empty at the end.
    var next: String { at < tokens.count ? tokens[at].text : "" }

    /// Whether the present token is a word.
    var isWord: Bool { at < tokens.count && tokens[at].kind == .word }

    /// Skips a token if it is the given one.
    mutating func take(_ text: String) -> Bool {
        guard next == text else { return false }
        at += 1
        return true
    }

    mutating func expect(_ text: String) throws(Failure) {
        guard take(text) else { throw Failure() }
    }

    /// Skips a bracket and all up to the one that closes it.
    mutating func skipBrackets() throws(Failure) {
        let pairs = ["(": ")", "[": "]", "{": "}"]
        var closing: [String] = []
        repeat {
            guard at < tokens.count else { throw Failure() }
            // A bracket in quotes is a token of its own kind.
            let text = tokens[at].kind == .sign ? tokens[at].text : ""
            if let end = pairs[text] {
                closing.append(end)
            } else if text == closing.last {
                closing.removeLast()
            } else if text == ")" || text == "]" || text == "}" {
                throw Failure()
            }
            at += 1
        } while !closing.isEmpty
    }

    /// Skips to the end of a declaration, or of the body of a function.
    private mutating func skipDeclaration() {
        while at < tokens.count {
            switch next {
            case ";":
                at += 1
                return
            case "{":
                if (try? skipBrackets()) == nil {
                    at = tokens.count
                    return
                }
                if next != ";", next != ",", !isWord || next == "typedef" || next == "extern" { return }
            default: at += 1
            }
        }
    }

    // MARK: Declarations

    private mutating func external() throws(Failure) {
        if take(";") || take("__extension__") { return }
        if ["_Static_assert", "static_assert", "asm", "__asm__", "__asm"].contains(next) {
            at += 1
            try skipBrackets()
            return
        }
        let start = at
        let specifiers = try specifiers()
        if take(";") { return }
        while true {
            let (name, type) = try declarator(specifiers.type, isConstant: specifiers.isConstant)
            let end = at
            try skipAttributes()
            guard let name else { throw Failure() }
            if specifiers.isTypedef {
                define(name, type)
            } else if case .function(let signature) = type, found.functions[name] == nil {
                found.functions[name] = HeaderFunction(
                    name: name, signature: signature, text: text(start, end),
                    file: files[tokens[start].file], line: line(of: name, start, end))
            }
            if next == "{" { return try skipBrackets() }
            if take("=") { try skipInitializer() }
            if take(";") { return }
            try expect(",")
        }
    }

    private mutating func skipInitializer() throws(Failure) {
        while at < tokens.count, next != ";", next != "," {
            if ["(", "[", "{"].contains(next) { try skipBrackets() } else { at += 1 }
        }
    }

    /// The line of a function's name; the declaration can begin lines before it.
    private func line(of name: String, _ start: Int, _ end: Int) -> Int {
        tokens[start..<end].first { $0.text == name }?.line ?? tokens[start].line
    }

    private mutating func define(_ name: String, _ type: HeaderType) {
        // These names say more than the type of C that they stand for.
        let words: [String: CallType] = [
            "size_t": .size, "int8_t": .int8, "uint8_t": .uint8, "int16_t": .int16, "uint16_t": .uint16,
            "int32_t": .int32, "uint32_t": .uint32, "int64_t": .int64, "uint64_t": .uint64,
        ]
        if let word = words[name], case .integer(let bits, let isSigned, _) = type {
            typedefs[name] = .integer(bits: bits, isSigned: isSigned, word: word)
            return
        }
        typedefs[name] = name.hasSuffix("va_list") ? .other("va_list") : type
        if case .structure(let key) = type, found.structs.names[key] == nil {
            found.structs.names[key] = name
        }
    }

    /// Tokens as people write them, without storage classes and attributes.
    func text(_ start: Int, _ end: Int) -> String {
        var text = ""
        var (index, isBehindWord) = (start, false)
        while index < end {
            let token = tokens[index]
            if Self.dropped.contains(token.text) {
                index += 1
                if index < end, tokens[index].text == "(" {
                    var copy = self
                    copy.at = index
                    if (try? copy.skipBrackets()) != nil { index = copy.at }
                }
                continue
            }
            let isWordLike = token.kind != .sign || token.text == "..."
            // `int (*compare)(...)`, but `compare(...)`.
            let isGroup = token.text == "(" && index > start && isType(tokens[index - 1].text)
            let needsBlank =
                isBehindWord && (isWordLike || token.text == "*" || isGroup)
                || text.hasSuffix(",") || (text.hasSuffix(")") && isWordLike)
            if needsBlank { text += " " }
            text += token.text
            isBehindWord = isWordLike
            index += 1
        }
        return text
    }

    /// Words that a call does not need to know about.
    private static let dropped: Set = [
        "extern", "static", "inline", "__inline", "__inline__", "_Noreturn", "__extension__", "register",
        "restrict", "__restrict", "__restrict__", "__attribute__", "__attribute", "__asm__", "asm",
    ]
}
