import StrictFiles
import TaskModel

/// One place in a source file where an identifier of a task is registered or requested.
struct SourceUse {
    /// What is done with the identifier.
    enum Role {
        case registration
        case request
        case session
    }

    /// What the source text shows of the identifier.
    enum Name: Equatable {
        case whole(String)
        /// The beginning of the identifier; the rest is computed when the program runs.
        case prefix(String)
        case unknown(String)
    }

    var file: String
    var place: Place
    var role: Role
    /// The kind of task that the code shows; `nil` if it shows none, or several.
    var kind: TaskKind?
    var name: Name
}

/// A Swift source file: its tokens and its string constants.
struct SwiftFile {
    let path: String
    /// All tokens, comments included.
    let tokens: [SwiftToken]
    /// The values of string constants, by the constant's name; a name can have several in one file.
    let constants: [String: Set<String>]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        tokens = SwiftLexer.tokens(of: bytes)
        constants = Self.constants(in: tokens)
    }

    /// Finds constants of the forms `let x = "text"`, `case x = "text"` and `var x: String { "text" }`.
    private static func constants(in tokens: [SwiftToken]) -> [String: Set<String>] {
        var constants: [String: Set<String>] = [:]
        for (index, token) in tokens.enumerated() {
            guard let keyword = token.word, ["let", "var", "case"].contains(keyword) else { continue }
            let rest = tokens[(index + 1)...].prefix(8)
            guard let name = rest.first?.word else { continue }
            var values = rest.dropFirst()
            if values.first?.isSign(":") == true, values.dropFirst().first?.word == "String" {
                values = values.dropFirst(2)
            }
            guard let sign = values.popFirst(), sign.isSign("=") || sign.isSign("{") else { continue }
            if values.first?.word == "return" { values = values.dropFirst() }
            guard case .string(let text, isWhole: true) = values.popFirst()?.kind,
                values.first?.isSign("+") != true
            else { continue }
            constants[name, default: []].insert(text)
        }
        return constants
    }
}

/// Finds the places in source files where identifiers are registered or requested.
struct SourceUses {
    private static let kinds: [String: TaskKind] = [
        "BGAppRefreshTask": .appRefresh, "BGProcessingTask": .processing,
        "BGHealthResearchTask": .processing, "BGContinuedProcessingTask": .continuedProcessing,
    ]

    private let file: SwiftFile
    private let code: [SwiftToken]
    private let constants: (String) -> Set<String>

    /// All uses in some files, in the order of the files and of their text.
    ///
    /// A constant is looked up in the same file first, and then in all files.
    static func all(in files: [SwiftFile]) -> [SourceUse] {
        var everywhere: [String: Set<String>] = [:]
        for file in files { everywhere.merge(file.constants) { $0.union($1) } }
        return files.flatMap { file in
            let uses = Self(file) { file.constants[$0] ?? everywhere[$0] ?? [] }
            return uses.code.indices.compactMap(uses.use)
        }
    }

    /// All places in some files that make a background session or handle its events.
    static func sessions(in files: [SwiftFile]) -> [SourceUse] {
        var everywhere: [String: Set<String>] = [:]
        for file in files { everywhere.merge(file.constants) { $0.union($1) } }
        return files.flatMap { file in
            let uses = Self(file) { file.constants[$0] ?? everywhere[$0] ?? [] }
            return uses.code.indices.compactMap(uses.session)
        }
    }

    private init(_ file: SwiftFile, constants: @escaping (String) -> Set<String>) {
        self.file = file
        self.constants = constants
        code = file.tokens.filter {
            switch $0.kind {
            case .comment, .directive: false
            default: true
            }
        }
    }

    private func use(at index: Int) -> SourceUse? {
        guard let word = code[index].word else { return nil }
        let isDeclared = index > 0 && code[index - 1].word == "func"
        if word == "register", !isDeclared,
            let argument = argument("forTaskWithIdentifier", after: index + 1)
        {
            return make(.registration, kind(from: index + 1), argument)
        }
        if word.hasSuffix("Request"), let kind = Self.kinds[String(word.dropLast(7))],
            let argument = argument("identifier", after: index + 1)
        {
            return make(.request, kind, argument)
        }
        // The form of SwiftUI: .backgroundTask(.appRefresh("..."))
        let follows = code[index...].prefix(5)
        if word == "backgroundTask", follows.dropFirst(1).first?.isSign("(") == true,
            follows.dropFirst(2).first?.isSign(".") == true,
            follows.dropFirst(3).first?.word == "appRefresh", follows.dropFirst(4).first?.isSign("(") == true
        {
            return make(.registration, .appRefresh, expression(from: index + 5))
        }
        return nil
    }

    private func session(at index: Int) -> SourceUse? {
        guard index > 0, code[index - 1].isSign(".") else { return nil }
        switch code[index].word {
        case "background":
            return argument("withIdentifier", after: index + 1).flatMap {
                make(.session, .transferEvents, $0)
            }
        case "urlSession" where index > 2 && code[index - 3].word == "backgroundTask":
            guard index + 1 < code.count, code[index + 1].isSign("(") else { return nil }
            return make(.session, .transferEvents, expression(from: index + 2))
        default: return nil
        }
    }

    private func make(_ role: SourceUse.Role, _ kind: TaskKind?, _ argument: ArraySlice<SwiftToken>)
        -> SourceUse?
    {
        guard let first = argument.first else { return nil }
        return SourceUse(
            file: file.path, place: first.place, role: role, kind: kind, name: resolve(argument))
    }

    /// The tokens of the first argument's value, if the argument has this label.
    private func argument(_ label: String, after index: Int) -> ArraySlice<SwiftToken>? {
        guard index + 2 < code.count, code[index].isSign("("), code[index + 1].word == label,
            code[index + 2].isSign(":")
        else { return nil }
        return expression(from: index + 3)
    }

    /// The tokens up to the comma or bracket that ends an argument.
    private func expression(from start: Int) -> ArraySlice<SwiftToken> {
        var depth = 0
        var end = start
        while end < code.count {
            if code[end].isOpening { depth += 1 }
            if code[end].isClosing { depth -= 1 }
            if depth < 0 || (depth == 0 && code[end].isSign(",")) { break }
            end += 1
        }
        return start <= end && start < code.count ? code[start..<end] : []
    }

    private func resolve(_ tokens: ArraySlice<SwiftToken>) -> SourceUse.Name {
        if case .string(let text, let isWhole) = tokens.first?.kind {
            if isWhole, tokens.count == 1 { return .whole(text) }
            return text.isEmpty ? .unknown("a string with interpolation") : .prefix(text)
        }
        var words = tokens.filter { !$0.isSign(".") && !$0.isSign("!") }.map(\.word)
        if words.count > 1, words.last == "rawValue" { words.removeLast() }
        guard let last = words.last ?? nil, !words.contains(nil) else {
            return .unknown("an expression")
        }
        let values = constants(last)
        if values.count == 1, let value = values.first { return .whole(value) }
        return .unknown("'\(last)'")
    }

    /// The kind that a launch handler casts its task to.
    ///
    /// Searches the call whose opening bracket is at this index, and its trailing closure. Returns `nil` if
    /// there is no cast, or if casts to several kinds exist.
    private func kind(from start: Int) -> TaskKind? {
        var end = start
        skipBrackets(&end)
        if end < code.count, code[end].isSign("{") { skipBrackets(&end) }
        var found: Set<TaskKind> = []
        for index in start..<min(end, code.count) {
            if let word = code[index].word, let kind = Self.kinds[word], index > 0,
                code[index - 1].isSign("!") || code[index - 1].isSign("?") || code[index - 1].isSign(":")
                    || code[index - 1].word == "as" || code[index - 1].word == "is"
            {
                found.insert(kind)
            }
        }
        return found.count == 1 ? found.first : nil
    }

    private func skipBrackets(_ index: inout Int) {
        var depth = 0
        while index < code.count {
            if code[index].isOpening { depth += 1 }
            if code[index].isClosing { depth -= 1 }
            index += 1
            if depth <= 0 { return }
        }
    }
}

extension SwiftToken {
    /// Whether the token is an opening bracket: round, square or curly.
    var isOpening: Bool { isSign("(") || isSign("[") || isSign("{") }
    /// Whether the token is a closing bracket: round, square or curly.
    var isClosing: Bool { isSign(")") || isSign("]") || isSign("}") }
}
