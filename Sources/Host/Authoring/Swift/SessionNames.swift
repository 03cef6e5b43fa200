import StrictFiles

/// What the names in one Swift file stand for, as far as background sessions are concerned.
///
/// Only background sessions refuse data tasks and completion handlers, and most apps also use the shared
/// session. So this type follows a session from its configuration to the calls of its methods. It reads
/// tokens and knows no types: a name has the meaning of its last declaration or assignment before the use.
struct SessionNames {
    /// What a value is.
    private enum Meaning {
        case configuration(isBackground: Bool)
        case session(isBackground: Bool)
    }

    private let tokens: [SwiftToken]
    /// Whether the file makes the configuration of a background session.
    private(set) var hasBackgroundSession = false
    /// The declarations of each name that has a meaning, in the order of the file.
    private var declarations: [String: [(index: Int, meaning: Meaning)]] = [:]
    /// Whether the file shows a session of another kind.
    private var hasOtherSession = false

    /// - Parameter tokens: The tokens of the file that are compiled, without comments.
    init(_ tokens: [SwiftToken]) {
        self.tokens = tokens
        hasBackgroundSession = tokens.indices.contains(where: isBackground)
        guard hasBackgroundSession else { return }
        // The second time, names are known that are declared after their use, or within a value.
        for _ in 1...2 {
            declarations = Dictionary(grouping: tokens.indices.compactMap(declared), by: \.name)
                .mapValues { $0.map { ($0.index, $0.meaning) } }
        }
        hasOtherSession =
            tokens.indices.contains(where: isShared)
            || declarations.values.joined().contains {
                if case .session(isBackground: false) = $0.meaning { true } else { false }
            }
    }

    private func declared(_ index: Int) -> (index: Int, name: String, meaning: Meaning)? {
        guard let (name, value) = declaration(at: index), let meaning = meaning(of: value) else { return nil }
        return (index, name, meaning)
    }

    /// Whether `.background(withIdentifier` begins before this name.
    func isBackground(_ index: Int) -> Bool {
        index > 0 && tokens[index].word == "background" && tokens[index - 1].isSign(".")
            && index + 2 < tokens.count && tokens[index + 1].isSign("(")
            && tokens[index + 2].word == "withIdentifier"
    }

    /// Whether the method with this name is called on a background session.
    ///
    /// A session whose origin the file does not show, such as a delegate's argument, is taken for one if its
    /// name says that it is a session, and if the file shows no session of another kind.
    func isCalledOnBackgroundSession(_ method: Int) -> Bool {
        guard var end = tokens[..<method].indices.last, tokens[end].isSign("."), end > 0 else { return false }
        end -= 1
        while end > 0, tokens[end].isSign("?") || tokens[end].isSign("!") { end -= 1 }
        let begin = tokens[end].isSign(")") ? beginOfCall(end) : end
        if let known = meaning(of: begin..<end + 1) {
            if case .session(let isBackground) = known { return isBackground }
            return false
        }
        guard let name = tokens[end].word, name.lowercased().hasSuffix("session") else { return false }
        return !hasOtherSession
    }

    // MARK: Declarations

    /// The name that is declared or set at a token, and the tokens of its value.
    private func declaration(at index: Int) -> (name: String, value: Range<Int>)? {
        guard let word = tokens[index].word, index + 2 < tokens.count else { return nil }
        if ["let", "var", "func"].contains(word) {
            guard let name = tokens[index + 1].word else { return nil }
            return beginOfValue(after: index + 1, isFunction: word == "func").map { (name, expression($0)) }
        }
        let isNew = index > 0 && ["let", "var"].contains(tokens[index - 1].word)
        guard !isNew, tokens[index + 1].isSign("="), !tokens[index + 2].isSign("=") else { return nil }
        return (word, expression(index + 2))
    }

    /// The first token of a value: after the `=`, or the bracket of the body.
    private func beginOfValue(after name: Int, isFunction: Bool) -> Int? {
        var depth = 0
        var isUseful = !isFunction
        for index in (name + 1)..<min(name + 80, tokens.count) {
            let token = tokens[index]
            if depth == 0 {
                if token.isSign("{") { return isUseful ? index : nil }
                if token.isSign("="), !isFunction { return index + 1 < tokens.count ? index + 1 : nil }
                if token.isClosing || token.isSign(",") || ["let", "var", "func"].contains(token.word) {
                    return nil
                }
                // A function is of interest if it returns a session or a configuration.
                let isResult = tokens[index - 1].isSign(">") && token.word?.hasPrefix("URLSession") == true
                isUseful = isUseful || isResult
            }
            if token.isOpening { depth += 1 }
            if token.isClosing { depth -= 1 }
        }
        return nil
    }

    /// The tokens of an expression: up to the end of a line outside brackets, unless a dot begins the next.
    private func expression(_ begin: Int) -> Range<Int> {
        var depth = 0
        for index in begin..<tokens.count {
            let token = tokens[index]
            if depth == 0, index > begin {
                let isNextLine = token.place.line > tokens[index - 1].place.line && !token.isSign(".")
                if isNextLine || token.isClosing || token.isSign(";") { return begin..<index }
            }
            if token.isOpening { depth += 1 }
            if token.isClosing { depth -= 1 }
        }
        return begin..<tokens.count
    }

    // MARK: Meanings

    private func meaning(of value: Range<Int>) -> Meaning? {
        if let call = value.first(where: isMaking) {
            guard let begin = tokens[call..<value.upperBound].firstIndex(where: { $0.isSign("(") }) else {
                return nil
            }
            let arguments = begin..<endOfCall(begin)
            return configuration(in: arguments, isArgument: true).map { .session(isBackground: $0) }
        }
        if value.contains(where: isShared) { return .session(isBackground: false) }
        if let isBackground = configuration(in: value, isArgument: false) {
            return .configuration(isBackground: isBackground)
        }
        // Another name for a value, or what a function returned.
        let isName = value.allSatisfy { index in
            tokens[index].word != nil || [".", "?", "!", "(", ")"].contains { tokens[index].isSign($0) }
        }
        guard isName, let last = value.last(where: { tokens[$0].word != nil }) else { return nil }
        return known(last)
    }

    /// Whether some tokens name the configuration of a background session; `nil` if they name none.
    private func configuration(in range: Range<Int>, isArgument: Bool) -> Bool? {
        if range.contains(where: isBackground) { return true }
        for index in range {
            if isOtherConfiguration(index, isImplicit: isArgument || range.count == 2) { return false }
            let isLabel = index + 1 < tokens.count && tokens[index + 1].isSign(":")
            guard isArgument, !isLabel, case .configuration(let isBackground) = known(index) else { continue }
            return isBackground
        }
        return nil
    }

    /// Whether a token is the `default` of `URLSessionConfiguration.default`, or likewise `ephemeral`.
    private func isOtherConfiguration(_ index: Int, isImplicit: Bool) -> Bool {
        guard tokens[index].word == "default" || tokens[index].word == "ephemeral", index > 1,
            tokens[index - 1].isSign(".")
        else { return false }
        return tokens[index - 2].word.map { $0 == "URLSessionConfiguration" } ?? isImplicit
    }

    /// The meaning of the name at a token.
    private func known(_ index: Int) -> Meaning? {
        guard let name = tokens[index].word, let same = declarations[name] else { return nil }
        return (same.last { $0.index < index } ?? same.first)?.meaning
    }

    /// Whether a token is the `URLSession` of `URLSession(...)` or `URLSession.init(...)`.
    private func isMaking(_ index: Int) -> Bool {
        guard tokens[index].word == "URLSession", index + 1 < tokens.count else { return false }
        if tokens[index + 1].isSign("(") { return true }
        return index + 3 < tokens.count && tokens[index + 1].isSign(".") && tokens[index + 2].word == "init"
            && tokens[index + 3].isSign("(")
    }

    /// Whether a token is the `URLSession` of `URLSession.shared`.
    private func isShared(_ index: Int) -> Bool {
        tokens[index].word == "URLSession" && index + 2 < tokens.count && tokens[index + 1].isSign(".")
            && tokens[index + 2].word == "shared"
    }

    // MARK: Brackets

    /// The index after the bracket that closes the one at an index; the end of the file if none does.
    private func endOfCall(_ begin: Int) -> Int {
        var depth = 0
        for index in begin..<tokens.count {
            if tokens[index].isOpening { depth += 1 }
            if tokens[index].isClosing { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return tokens.count
    }

    /// The first token of a call that ends with the bracket at an index: the name of what is called.
    private func beginOfCall(_ end: Int) -> Int {
        var depth = 0
        for index in (0...end).reversed() {
            if tokens[index].isClosing { depth += 1 }
            if tokens[index].isOpening { depth -= 1 }
            guard depth == 0 else { continue }
            var begin = index
            while begin > 0, tokens[begin - 1].word != nil || tokens[begin - 1].isSign(".") { begin -= 1 }
            return begin
        }
        return end
    }
}
