import StrictFiles
import TaskModel

/// Reads the entries of `steps:`.
struct StepReader {
    private static let callKeys = [
        "function", "library", "returns", "arguments", "variadicFrom", "as", "expect", "errno", "ends",
        "always",
    ]

    /// The keys of the steps that do not call a function.
    private static let otherKeys = ["save", "map", "read", "get", "set", "repeat"]

    /// The greatest number of values in `expect`, and of names in `ends`: an encoded program counts them in
    /// one byte.
    static let maximumListed = 255

    let payload: [String: PayloadType]
    let invocations: InvocationReader
    let names: CallNames
    let problems: ProblemList

    /// Reads a step; the places are those of its functions.
    func step(_ node: YAMLNode, isInLoop: Bool = false) -> (CallStep, [Place])? {
        let others = MemoryStepReader(steps: self)
        if case .mapping(let pairs) = node.value {
            for pair in pairs {
                guard case .scalar(let word, _) = pair.key.value else { continue }
                switch word {
                case "save": return others.save(node).map { ($0, []) }
                case "map", "read": return others.file(node, word).map { ($0, []) }
                case "get": return others.get(node).map { ($0, []) }
                case "set": return others.set(node).map { ($0, []) }
                case "repeat" where isInLoop:
                    problems.error(
                        node.place, "a loop can't contain a loop",
                        "Write a plugin instead: Documentation/PluginGuide.md")
                    return nil
                case "repeat":
                    return LoopReader(steps: self, names: names, problems: problems).loop(node)
                default: continue
                }
            }
        }
        guard let fields = Fields(node, "a step", keys: Self.callKeys + Self.otherKeys, problems) else {
            return nil
        }
        let returnsNode = fields["returns"]
        let types = CallTypeReader(problems: problems)
        var returns: CallType? = .void
        var members: [CallType]?
        if let returnsNode, case .mapping = returnsNode.value {
            members = Fields(returnsNode, "returns", keys: ["struct"], problems)?["struct"].flatMap {
                StructsReader(problems: problems).members(of: $0, invocations.structs)
            }
        } else if let returnsNode {
            returns = types.type(returnsNode, allowing: .results)
        }
        // Reading continues after an unknown type, so that other problems of the step are reported, too.
        guard let (called, place) = invocations.invocation(fields, "a step", returns: returns ?? .long)
        else { return nil }
        var invocation = called
        invocation.returnedStruct = members
        var step = CallStep(action: .invoke(invocation))
        step.readsErrno = fields["errno"]?.bool("errno", problems) ?? false
        step.always = fields["always"]?.bool("always", problems) ?? false
        if let node = fields["as"], let name = node.text("as", problems) {
            if members == nil { _ = hasResult(returns, "as", at: node.place) }
            names.bind(name, members == nil ? .value(returns ?? .long) : .memory, at: node.place)
            step.result = name
        }
        // A function without a result has no type for the expected value.
        if let node = fields["expect"], hasResult(returns, "expect", at: node.place) {
            step.expect = ExpectationReader(problems: problems)
                .expectation(node, of: returns ?? .long, "expect")
        }
        for item in fields["ends"]?.items("ends", problems) ?? [] {
            guard let name = item.text("a name of ends", problems) else { continue }
            names.end(name, at: item.place)
            step.ends.append(name)
        }
        problems.checkCount(
            step.ends.count, of: "names in 'ends'", atMost: Self.maximumListed, fields["ends"]?.place)
        return (step, [place])
    }

    /// Whether the function returns a value; reports a problem if it does not.
    private func hasResult(_ returns: CallType?, _ what: String, at place: Place) -> Bool {
        guard returns == .void else { return true }
        problems.error(
            place, "'\(what)' needs a function that returns a value", "Declare what it returns: returns: int")
        return false
    }
}
