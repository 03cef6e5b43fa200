import StrictFiles
import TaskModel

/// Reads the entries of `steps:`.
struct StepReader {
    private static let callKeys = [
        "function", "library", "returns", "arguments", "variadicFrom", "as", "expect", "errno", "ends",
        "always",
    ]

    /// The greatest number of values in `expect`, and of names in `ends`: an encoded program counts them in
    /// one byte.
    private static let maximumListed = 255

    let payload: [String: PayloadType]
    let invocations: InvocationReader
    let names: CallNames
    let problems: ProblemList

    /// Reads a step; the place is that of its function, or `nil` for a step that saves a file.
    func step(_ node: YAMLNode) -> (CallStep, Place?)? {
        if case .mapping(let pairs) = node.value, pairs.contains(where: { $0.key.isWord("save") }) {
            return save(node).map { ($0, nil) }
        }
        guard let fields = Fields(node, "a step", keys: Self.callKeys + ["save"], problems) else {
            return nil
        }
        let returnsNode = fields["returns"]
        let types = CallTypeReader(problems: problems)
        let returns = returnsNode.map { types.type($0, allowing: .results) } ?? .void
        // Reading continues after an unknown type, so that other problems of the step are reported, too.
        guard let (invocation, place) = invocations.invocation(fields, "a step", returns: returns ?? .long)
        else { return nil }
        var step = CallStep(action: .invoke(invocation))
        step.readsErrno = fields["errno"]?.bool("errno", problems) ?? false
        step.always = fields["always"]?.bool("always", problems) ?? false
        if let node = fields["as"], let name = node.text("as", problems) {
            _ = hasResult(returns, "as", at: node.place)
            names.bind(name, .value(returns ?? .long), at: node.place)
            step.result = name
        }
        // A function without a result has no type for the expected value.
        if let node = fields["expect"], hasResult(returns, "expect", at: node.place) {
            step.expect = expectation(node, of: returns ?? .long)
        }
        for item in fields["ends"]?.items("ends", problems) ?? [] {
            guard let name = item.text("a name of ends", problems) else { continue }
            names.end(name, at: item.place)
            step.ends.append(name)
        }
        problems.checkCount(
            step.ends.count, of: "names in 'ends'", atMost: Self.maximumListed, fields["ends"]?.place)
        return (step, place)
    }

    /// Whether the function returns a value; reports a problem if it does not.
    private func hasResult(_ returns: CallType?, _ what: String, at place: Place) -> Bool {
        guard returns == .void else { return true }
        problems.error(
            place, "'\(what)' needs a function that returns a value", "Declare what it returns: returns: int")
        return false
    }

    private func save(_ node: YAMLNode) -> CallStep? {
        guard let outer = Fields(node, "a step that saves", keys: ["save"], problems),
            let saveNode = outer["save"],
            let fields = Fields(saveNode, "save", keys: ["from", "length", "to"], problems)
        else { return nil }
        let from = fields.required("from", "save", problems)
        let length = fields.required("length", "save", problems).flatMap { invocations.source($0, of: .size) }
        let to = fields.required("to", "save", problems)
        guard let from, let to, let name = from.text("from", problems),
            let meaning = names.use(name, at: from.place),
            let path = to.text("to", problems), let length
        else { return nil }
        if case .value(let type) = meaning, !type.isPointer {
            problems.error(from.place, "'\(name)' is not memory", "Save a buffer, a file or a pointer")
        }
        if PayloadText.isTemplate(path) {
            PayloadText.check(path, in: payload, allowing: [.string], at: to.place, problems)
        }
        return CallStep(action: .save(CallSave(from: name, length: length, to: path)))
    }

    private func expectation(_ node: YAMLNode, of type: CallType) -> CallExpectation? {
        // A string can only be compared with null, like a pointer.
        let literalType: CallType = type == .string ? .pointer : type
        let literals = LiteralReader(payload: [:], problems: problems)
        switch node.value {
        case .scalar:
            return literals.literal(node, of: literalType).map { .anyOf([$0]) }
        case .sequence(let items):
            if items.isEmpty { problems.error(node.place, "'expect' is an empty list", "Add a value") }
            problems.checkCount(
                items.count, of: "values in 'expect'", atMost: Self.maximumListed, node.place)
            let read = items.map { literals.literal($0, of: literalType) }
            return read.contains(nil) ? nil : .anyOf(read.compactMap(\.self))
        case .mapping:
            guard let fields = Fields(node, "expect", keys: ["not", "atLeast"], problems) else { return nil }
            if let atLeast = fields["atLeast"] {
                if type.isPointer {
                    problems.error(
                        atLeast.place, "'atLeast' can't be used for type \(type.rawValue)", "Use {not: null}")
                }
                return literals.literal(atLeast, of: literalType).map { .atLeast($0) }
            }
            guard let not = fields["not"] else {
                problems.error(
                    node.place, "'expect' is empty", "Write a value, a list, {not: null} or {atLeast: 0}")
                return nil
            }
            return literals.literal(not, of: literalType).map { .not($0) }
        }
    }
}

extension YAMLNode {
    fileprivate func isWord(_ word: String) -> Bool {
        if case .scalar(word, _) = value { true } else { false }
    }
}
