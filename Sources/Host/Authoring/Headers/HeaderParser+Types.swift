import TaskModel

extension HeaderParser {
    /// What precedes a declarator: `static const unsigned long`.
    struct Specifiers {
        var type: HeaderType
        var isTypedef = false
        var isConstant = false
    }

    private static let storage: Set = [
        "extern", "static", "inline", "__inline", "__inline__", "register", "auto", "_Noreturn",
        "_Thread_local", "__thread", "__extension__", "noreturn",
    ]
    private static let qualifiers: Set = [
        "const", "__const", "__const__", "volatile", "__volatile__", "__volatile", "restrict", "__restrict",
        "__restrict__", "_Nullable", "_Nonnull", "_Atomic",
    ]
    private static let attributes: Set = [
        "__attribute__", "__attribute", "__declspec", "_Alignas", "__asm__", "__asm", "asm",
    ]
    private static let basic: Set = [
        "void", "char", "short", "int", "long", "float", "double", "signed", "__signed", "__signed__",
        "unsigned", "_Bool", "bool", "_Complex", "__complex__",
    ]
    private static let wide: Set = [
        "__int128", "__int128_t", "__uint128_t", "_Float128", "__float128", "_Float16", "_Float32",
        "_Float32x", "_Float64", "_Float64x", "__bf16", "__fp16", "_Decimal32", "_Decimal64", "_Decimal128",
    ]

    /// Whether an attribute of C23 begins: `[[nodiscard]]`.
    private var isBracketPair: Bool {
        next == "[" && at + 1 < tokens.count && tokens[at + 1].text == "["
    }

    mutating func skipAttributes() throws(Failure) {
        while Self.attributes.contains(next) || isBracketPair {
            if next != "[" { at += 1 }
            try skipBrackets()
        }
    }

    /// Reads the words in front of a declarator.
    mutating func specifiers() throws(Failure) -> Specifiers {
        var specifiers = Specifiers(type: .void)
        var words: [String] = []
        var type: HeaderType?
        while isWord || next == "[" {
            let word = next
            if word == "[" || Self.attributes.contains(word) {
                let start = at
                try skipAttributes()
                if at == start { break }
            } else if word == "typedef" {
                specifiers.isTypedef = true
                at += 1
            } else if Self.storage.contains(word) {
                at += 1
            } else if Self.qualifiers.contains(word) {
                specifiers.isConstant = specifiers.isConstant || word.contains("const")
                at += 1
                if word == "_Atomic", next == "(" { throw Failure() }
            } else if word == "struct" || word == "union" {
                type = try structure()
            } else if word == "enum" {
                type = try enumeration()
            } else if ["typeof", "__typeof__", "__typeof"].contains(word) {
                at += 1
                try skipBrackets()
                type = .other("typeof")
            } else if Self.wide.contains(word) {
                at += 1
                type = .other(word)
            } else if word == "bool", typedefs["bool"] == nil, type == nil, words.isEmpty {
                at += 1
                words.append("_Bool")
            } else if Self.basic.contains(word), typedefs[word] == nil {
                at += 1
                words.append(word)
            } else if type == nil, words.isEmpty, let known = typedefs[word] {
                at += 1
                type = known
            } else {
                break
            }
        }
        guard let result = type ?? Self.type(named: words) else { throw Failure() }
        specifiers.type = result
        return specifiers
    }

    private static func type(named words: [String]) -> HeaderType? {
        guard !words.isEmpty else { return nil }
        if words.contains("_Complex") || words.contains("__complex__") { return .other("a complex number") }
        if words.contains("void") { return .void }
        if words.contains("_Bool") { return .integer(.bool) }
        if words.contains("float") { return .floating(.float) }
        let longs = words.count { $0 == "long" }
        if words.contains("double") { return longs > 0 ? .other("long double") : .floating(.double) }
        let isUnsigned = words.contains("unsigned")
        if words.contains("char") {
            let isPlain = !isUnsigned && !words.contains { $0.contains("signed") }
            return isPlain ? .character : .integer(isUnsigned ? .uchar : .int8)
        }
        if words.contains("short") { return .integer(isUnsigned ? .ushort : .short) }
        switch longs {
        case 0: return .integer(isUnsigned ? .uint : .int)
        case 1: return .integer(isUnsigned ? .ulong : .long)
        default: return .integer(isUnsigned ? .ulonglong : .longlong)
        }
    }

    private mutating func enumeration() throws(Failure) -> HeaderType {
        at += 1
        try skipAttributes()
        if isWord { at += 1 }
        if next == "{" { try skipBrackets() }
        try skipAttributes()
        return .enumeration
    }

    private mutating func structure() throws(Failure) -> HeaderType {
        let isUnion = next == "union"
        at += 1
        let start = at
        try skipAttributes()
        var isPacked = changesLayout(start)
        var key = (isUnion ? "union " : "struct ") + next
        if isWord {
            found.structs.names[key] = next
            at += 1
        } else {
            unnamed += 1
            key += "#\(unnamed)"
        }
        guard next == "{" else { return .structure(key) }
        at += 1
        var members: [HeaderStructs.Member]? = []
        depth += 1
        guard depth < Self.deepest else { throw Failure() }
        while !take("}") {
            guard at < tokens.count else { throw Failure() }
            let found = try self.members()
            members = if let found, let before = members { before + found } else { nil }
        }
        depth -= 1
        let end = at
        try skipAttributes()
        isPacked = isPacked || changesLayout(end)
        found.structs.bodies[key] = HeaderStructs.Body(isUnion: isUnion, members: isPacked ? nil : members)
        return .structure(key)
    }

    /// Whether an attribute between a token and the present one changes where members are.
    private func changesLayout(_ start: Int) -> Bool {
        tokens[start..<at].contains { $0.text.contains("packed") || $0.text.contains("aligned") }
    }

    /// Reads one declaration of members; `nil` if their offsets can't be told.
    private mutating func members() throws(Failure) -> [HeaderStructs.Member]? {
        if take(";") || take("__extension__") { return [] }
        if next == "_Static_assert" {
            at += 1
            try skipBrackets()
            return []
        }
        let start = at
        let specifiers = try specifiers()
        if take(";") { return [HeaderStructs.Member(name: nil, type: specifiers.type)] }
        var members: [HeaderStructs.Member]? = []
        while true {
            if next == ":" {
                members = nil
            } else {
                let (name, type) = try declarator(specifiers.type, isConstant: specifiers.isConstant)
                members?.append(HeaderStructs.Member(name: name, type: type))
            }
            if take(":") {
                members = nil
                while at < tokens.count, next != ";", next != "," { at += 1 }
            }
            try skipAttributes()
            if changesLayout(start) { members = nil }
            if take(";") { return members }
            try expect(",")
        }
    }

    // MARK: Declarators

    /// Reads a declarator, such as `*name[2]`; it has no name in the prototypes of some headers.
    ///
    /// - Parameters:
    ///   - base: The type in front of it.
    ///   - isConstant: Whether that type is `const`.
    /// - Returns: The name, or `nil`; and the type of what the declarator declares.
    /// - Throws: ``Failure`` if it is not understood.
    mutating func declarator(
        _ base: HeaderType, isConstant: Bool
    ) throws(Failure) -> (name: String?, type: HeaderType) {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.deepest else { throw Failure() }
        var (base, isConstant) = (base, isConstant)
        var pointers = 0
        while true {
            try skipAttributes()
            if take("*") {
                // A type is as deep as its pointers, and to free a very deep one takes all of the stack.
                pointers += 1
                guard pointers < Self.deepest else { throw Failure() }
                base = .pointer(to: base, isConstant: isConstant)
                isConstant = false
            } else if Self.qualifiers.contains(next) {
                isConstant = isConstant || next.contains("const")
                at += 1
            } else {
                break
            }
        }
        if next == "(", isGrouped {
            let inner = at
            try skipBrackets()
            let type = try suffixes(base)
            let end = at
            at = inner + 1
            let result = try declarator(type, isConstant: false)
            try expect(")")
            at = end
            return result
        }
        var name: String?
        if isWord {
            name = next
            at += 1
        }
        return (name, try suffixes(base))
    }

    /// Whether a word is the name of a type.
    func isType(_ word: String) -> Bool { Self.basic.contains(word) || typedefs[word] != nil }

    /// Whether a bracket is around a declarator, and not around parameters.
    private var isGrouped: Bool {
        guard at + 1 < tokens.count else { return false }
        let inner = tokens[at + 1]
        if inner.text == "*" || inner.text == "(" || Self.attributes.contains(inner.text) { return true }
        return inner.kind == .word && typedefs[inner.text] == nil && !Self.basic.contains(inner.text)
            && !Self.qualifiers.contains(inner.text) && !Self.wide.contains(inner.text)
            && !["struct", "union", "enum", "register", "typeof", "__typeof__"].contains(inner.text)
    }

    private mutating func suffixes(_ base: HeaderType) throws(Failure) -> HeaderType {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.deepest else { throw Failure() }
        if next == "[", !isBracketPair {
            let start = at
            try skipBrackets()
            let inner = tokens[start + 1..<at - 1]
            let count = inner.count == 1 ? inner.first.flatMap { Int($0.text) } : nil
            return .array(try suffixes(base), count: count)
        }
        guard next == "(" else { return base }
        at += 1
        var signature = HeaderSignature(returns: base, parameters: nil)
        if !take(")") {
            (signature.parameters, signature.isVariadic) = try parameters()
        }
        try skipAttributes()
        return .function(signature)
    }

    private mutating func parameters() throws(Failure) -> ([HeaderSignature.Parameter], Bool) {
        var parameters: [HeaderSignature.Parameter] = []
        while true {
            if take("...") {
                try expect(")")
                return (parameters, true)
            }
            let start = at
            let specifiers = try specifiers()
            let (name, type) = try declarator(specifiers.type, isConstant: specifiers.isConstant)
            let end = at
            try skipAttributes()
            if type == .void, name == nil, parameters.isEmpty, take(")") { return ([], false) }
            parameters.append(
                HeaderSignature.Parameter(name: name, type: type.asParameter, text: text(start, end)))
            if take(")") { return (parameters, false) }
            try expect(",")
        }
    }
}
