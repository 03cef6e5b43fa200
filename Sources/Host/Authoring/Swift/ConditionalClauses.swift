import StrictFiles

/// One clause of an `#if`: from its directive to the next directive of the same `#if`.
struct ConditionalClause {
    /// The position of the clause's directive.
    var place: Place
    /// The directive as messages quote it, such as `#if os(iOS)`; the name of an `#else` includes its `#if`.
    var name: String
    /// The conditions of the same `#if` up to and including this clause, as text.
    var conditions: [String]
    /// Whether the clause is an `#else`.
    var isElse: Bool
    /// The indices of the tokens inside the clause, nested clauses included.
    var tokens: Range<Int>
    /// The line of the directive that ends the clause.
    var lastLine: Int
    /// Whether the clause is compiled for Linux; `nil` if unknown.
    var onLinux: Bool?
    /// Whether the clause is compiled for an iPhone; `nil` if unknown.
    var onIPhone: Bool?
    /// Which `#if` the clause belongs to: the index of the `#if` token in the file.
    var group: Int
    /// Whether an enclosing clause is not compiled for Linux.
    var isInsideDead: Bool
}

extension ConditionalClause {
    fileprivate struct Open {
        var group: Int
        var conditions: [String] = []
        var answers: [BuildCondition.Platform: [Bool?]] = [.linux: [], .iPhone: []]
        var isInsideDead: Bool
        /// The clause that is still open; `nil` between its end and the next directive.
        var clause: ConditionalClause?
    }

    /// All clauses of a file, in the order in which they end; an `#if` without `#endif` ends with the file.
    static func all(in tokens: [SwiftToken]) -> [ConditionalClause] {
        var stack: [Open] = []
        var clauses: [ConditionalClause] = []
        func close(_ index: Int, _ line: Int) {
            guard var clause = stack.last?.clause else { return }
            clause.tokens = clause.tokens.lowerBound..<index
            clause.lastLine = line
            clauses.append(clause)
            stack[stack.count - 1].clause = nil
        }
        for (index, token) in tokens.enumerated() {
            guard case .directive(let word, let condition) = token.kind else { continue }
            if word == "if" {
                let isInsideDead = stack.contains { $0.isInsideDead || $0.clause?.onLinux == false }
                stack.append(Open(group: index, isInsideDead: isInsideDead))
            } else {
                guard !stack.isEmpty else { continue }
                close(index, token.place.line)
            }
            if word == "endif" {
                stack.removeLast()
            } else {
                stack[stack.count - 1].open(word, condition, token.place, index)
            }
        }
        while !stack.isEmpty {
            close(tokens.count, tokens.last?.place.line ?? 1)
            stack.removeLast()
        }
        return clauses
    }
}

extension ConditionalClause.Open {
    fileprivate mutating func open(_ word: String, _ condition: String, _ place: Place, _ index: Int) {
        let isElse = word == "else"
        var onPlatform: [BuildCondition.Platform: Bool?] = [:]
        for platform in [BuildCondition.Platform.linux, .iPhone] {
            let own = isElse ? true : BuildCondition.holds(condition, on: platform)
            let before = answers[platform] ?? []
            let isFree = before.contains(true) ? false : before.allSatisfy { $0 == false } ? true : nil
            onPlatform[platform] = isFree == false || own == false ? .some(false) : isFree == nil ? nil : own
            answers[platform, default: []].append(own)
        }
        if !isElse { conditions.append(condition) }
        let first = conditions.first ?? ""
        clause = ConditionalClause(
            place: place, name: isElse ? "#else' of '#if \(first)" : "#\(word) \(condition)",
            conditions: conditions, isElse: isElse, tokens: (index + 1)..<(index + 1), lastLine: place.line,
            onLinux: onPlatform[.linux] ?? nil, onIPhone: onPlatform[.iPhone] ?? nil, group: group,
            isInsideDead: isInsideDead)
    }
}
