/// Reads expressions: a recursive descent with a bounded depth.
///
/// ```
/// expression = both {"or" both}
/// both       = part {"and" part}
/// part       = "not" part | "(" expression ")" | "true" | "false" | fact [comparison constant]
/// ```
struct WhenParser {
    private let payload: [String: PayloadType]
    private let tokens: [WhenToken]
    private var index = 0
    /// The columns at which the tests begin, from left to right.
    private(set) var testColumns: [Int] = []

    init(_ text: String, payload: [String: PayloadType], longest: Int) throws(WhenError) {
        self.payload = payload
        tokens = try WhenLexer.tokens(of: text, longest: longest)
    }

    private static let words = ["and", "or", "not", "true", "false"]

    private var token: WhenToken { tokens[min(index, tokens.count - 1)] }

    private mutating func take() -> WhenToken {
        defer { index += 1 }
        return token
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard token.kind == .name, token.text == word else { return false }
        index += 1
        return true
    }

    mutating func whole() throws(WhenError) -> WhenExpression.Node {
        if token.kind == .end {
            throw WhenError(
                column: 1, finding: "the expression is empty",
                remedy: "Write a test, such as battery >= 40")
        }
        let node = try expression(depth: 0)
        guard token.kind == .end else {
            if token.kind == .close {
                throw WhenError(
                    column: token.column, finding: "no parenthesis is open here", remedy: "Remove ')'")
            }
            throw WhenError(
                column: token.column, finding: "'\(token.text.start)' does not follow from what is before it",
                remedy: "Write 'and' or 'or' between two tests")
        }
        return node
    }

    private mutating func expression(depth: Int) throws(WhenError) -> WhenExpression.Node {
        var parts = [try both(depth: depth)]
        while takeWord("or") { parts.append(try both(depth: depth)) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func both(depth: Int) throws(WhenError) -> WhenExpression.Node {
        var parts = [try part(depth: depth)]
        while takeWord("and") { parts.append(try part(depth: depth)) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func part(depth: Int) throws(WhenError) -> WhenExpression.Node {
        let first = take()
        let isDeeper = first.kind == .open || (first.kind == .name && first.text == "not")
        if isDeeper, depth >= WhenExpression.deepest {
            throw WhenError(
                column: first.column,
                finding: "'not' and parentheses are nested more than \(WhenExpression.deepest) deep",
                remedy: "Simplify the expression, or move a part of it into a custom condition")
        }
        switch first.kind {
        case .open:
            let node = try expression(depth: depth + 1)
            guard token.kind == .close else {
                throw WhenError(
                    column: token.column,
                    finding: "the parenthesis of column \(first.column) is not closed", remedy: "Add ')'")
            }
            index += 1
            return node
        case .name where first.text == "not": return .not(try part(depth: depth + 1))
        case .name where first.text == "true" || first.text == "false":
            return .constant(first.text == "true")
        case .name where !Self.words.contains(first.text): return .test(try test(of: first))
        case .end:
            throw WhenError(
                column: first.column, finding: "the expression ends where a test is expected",
                remedy: "Add a test, such as battery >= 40")
        case .number, .text:
            throw WhenError(
                column: first.column, finding: "a test begins with a fact, found '\(first.text.start)'",
                remedy: "Write the fact first: battery >= 40")
        case .name, .comparison, .close:
            throw WhenError(
                column: first.column, finding: "a test is expected, found '\(first.text.start)'",
                remedy: "Write a test, such as battery >= 40")
        }
    }

    private mutating func test(of name: WhenToken) throws(WhenError) -> WhenTest {
        let fact = try fact(name)
        testColumns.append(name.column)
        guard testColumns.count <= WhenExpression.mostTests else {
            throw WhenError(
                column: name.column, finding: "there are more than \(WhenExpression.mostTests) tests",
                remedy: "Move some of them into a custom condition")
        }
        guard case .comparison(let comparison) = token.kind else {
            if fact.type == .boolean { return WhenTest(fact, .equal, .boolean(true)) }
            throw WhenError(
                column: token.column,
                finding: "'\(fact.name)' is \(fact.type.phrase), so it needs a comparison",
                remedy: "Compare it: \(fact.name) \(fact.type.isOrdered ? ">=" : "==") "
                    + "\(fact.type.example.split(separator: ",").first.map(String.init) ?? "")")
        }
        let sign = take()
        if comparison.needsOrder, !fact.type.isOrdered {
            throw WhenError(
                column: sign.column, finding: "'\(fact.name)' can't be compared with '\(sign.text)'",
                remedy: "Use == or !=")
        }
        return WhenTest(fact, comparison, try literal(fact))
    }

    /// What to write for names of the command line that are not facts.
    private static let otherNames = [
        "power": "Write externalPower, or not externalPower for power from the battery",
        "user": "Write idle, or not idle for an active user",
        "pressure": "Write cpuPressure, memoryPressure or ioPressure",
        "time": "Write hour, such as hour >= 22",
        "day": "Write weekday, such as weekday == Sat",
    ]

    /// What to write instead of a text that is no value of a fact; `nil` if only the example helps.
    private static func advice(_ type: WhenType, _ text: String) -> String? {
        switch type {
        case .hour: "Hours are 0 to 23" + (text == "24" ? "; midnight is 0" : "")
        case .percent: "Use 0% to 100%"
        default: nil
        }
    }

    private func fact(_ token: WhenToken) throws(WhenError) -> WhenFact {
        let name = token.text
        if let fact = MachineFact(rawValue: name) { return .machine(fact) }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0] == "condition" {
            if CustomCondition.isName(String(parts[1])) { return .condition(String(parts[1])) }
            throw WhenError(
                column: token.column, finding: "'\(name.start)' does not name a custom condition",
                remedy: "Write condition.NAME with the name from a file in conditions.d")
        }
        if parts.count == 2, parts[0] == "payload" {
            if let type = payload[String(parts[1])] { return .payload(String(parts[1]), type) }
            let remedy =
                payload.isEmpty ? "Declare it in the task: payload: {\(parts[1].prefix(40)): boolean}" : nil
            throw WhenError(
                column: token.column,
                finding: "the task declares no payload key '\(String(parts[1]).start)'", remedy: remedy,
                unknown: remedy == nil
                    ? WhenError.Unknown(word: name, candidates: payload.keys.sorted().map { "payload.\($0)" })
                    : nil)
        }
        if let advice = Self.otherNames[name] {
            throw WhenError(
                column: token.column, finding: "there is no fact '\(name)'", remedy: advice)
        }
        throw WhenError(
            column: token.column, finding: "there is no fact '\(name.start)'", remedy: nil,
            unknown: WhenError.Unknown(
                word: name,
                candidates: MachineFact.allCases.map(\.rawValue)
                    + payload.keys.sorted().map { "payload.\($0)" }
                    + ["condition.NAME"]))
    }

    private mutating func literal(_ fact: WhenFact) throws(WhenError) -> WhenTest.Literal {
        let token = take()
        func refusal() -> WhenError {
            if token.kind == .end {
                return WhenError(
                    column: token.column,
                    finding: "a value is missing: '\(fact.name)' is \(fact.type.phrase)",
                    remedy: "Write one, such as \(fact.type.example)")
            }
            return WhenError(
                column: token.column,
                finding: "'\(fact.name)' is \(fact.type.phrase), and '\(token.text.start)' is not",
                remedy: Self.advice(fact.type, token.text) ?? "Write \(fact.type.example)")
        }
        switch (fact.type, token.kind) {
        case (.boolean, .name) where token.text == "true" || token.text == "false":
            return .boolean(token.text == "true")
        case (.percent, .number):
            let digits = token.text.hasSuffix("%") ? String(token.text.dropLast()) : token.text
            guard let number = Self.millionths(digits), (0...100_000_000).contains(number) else {
                throw refusal()
            }
            return .number(millionths: number)
        case (.hour, .number):
            guard let hour = Int64(token.text), (0...23).contains(hour) else { throw refusal() }
            return .number(millionths: hour * 1_000_000)
        case (.number, .number):
            guard let number = Self.millionths(token.text) else { throw refusal() }
            return .number(millionths: number)
        case (.size, .number):
            do {
                return .size(try ByteCountText.parse(token.text))
            } catch {
                throw WhenError(column: token.column, finding: error.finding, remedy: error.remedy)
            }
        case (.text, .text): return .text(token.text)
        case (.word(let words, _), .name), (.word(let words, _), .text):
            if words.contains(token.text) { return .word(token.text) }
            if words == MachineFact.weekdays, let remedy = Self.advice(onDay: token.text) {
                throw WhenError(
                    column: token.column, finding: "'\(token.text.start)' is not a value of '\(fact.name)'",
                    remedy: remedy)
            }
            throw WhenError(
                column: token.column, finding: "'\(token.text.start)' is not a value of '\(fact.name)'",
                remedy: nil, unknown: WhenError.Unknown(word: token.text, candidates: words))
        default: throw refusal()
        }
    }

    /// What to write instead of `Saturday`, `sat` or `Mon-Fri`.
    private static func advice(onDay text: String) -> String? {
        func day(_ text: Substring) -> Int? {
            MachineFact.weekdays.firstIndex { $0.lowercased() == text.prefix(3).lowercased() }
        }
        let days = text.split(whereSeparator: { $0 == "-" || $0 == "." }).map(day)
        if days == [0, 4] { return "Write weekday != Sat and weekday != Sun" }
        if days.count > 1 { return "Compare with one day at a time: weekday == Mon or weekday == Tue" }
        return (days.first ?? nil).map { "Did you mean '\(MachineFact.weekdays[$0])'?" }
    }

    /// Reads `40`, `-2` or `0.25`: at most 12 digits before the point and 6 after it.
    private static func millionths(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let parts = (isNegative ? text.dropFirst() : text[...])
            .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...12).contains(whole.utf8.count), let number = Int64(whole),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        var rest: Int64 = 0
        if parts.count == 2 {
            guard (1...6).contains(parts[1].utf8.count), let digits = Int64(parts[1]) else { return nil }
            rest = (0..<(6 - parts[1].utf8.count)).reduce(digits) { value, _ in value * 10 }
        }
        let magnitude = number * 1_000_000 + rest
        return isNegative ? -magnitude : magnitude
    }
}

extension String {
    /// The beginning of a text for a message: at most 40 characters.
    fileprivate var start: String { count > 40 ? String(prefix(40)) + "..." : self }
}
