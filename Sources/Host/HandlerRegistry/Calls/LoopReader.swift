import StrictFiles
import TaskModel

/// Reads a step that is a loop: `repeat: {while: {NAME: CONDITION}, atMost: N, steps: [...]}`.
struct LoopReader {
    /// The greatest value of `atMost`; the runner counts rounds in 32 bits.
    static let maximumRounds = 1_000_000_000

    let steps: StepReader
    let names: CallNames
    let problems: ProblemList

    /// Reads a loop; the places are those of the functions of its steps.
    func loop(_ node: YAMLNode) -> (CallStep, [Place])? {
        guard let outer = Fields(node, "a step that repeats", keys: ["repeat"], problems),
            let loopNode = outer["repeat"],
            let fields = Fields(loopNode, "repeat", keys: ["while", "atMost", "steps"], problems)
        else { return nil }
        let condition = fields.required("while", "repeat", problems)
        let atMost = fields.required("atMost", "repeat", problems)?
            .integer("atMost", in: 1...Self.maximumRounds, problems)
        let nodes = fields.required("steps", "repeat", problems)?.items("steps", problems) ?? []
        if nodes.isEmpty, let place = fields["steps"]?.place {
            problems.error(place, "the loop has no steps", "Add a step: {function: NAME}")
        }
        // The steps are read first, because one of them gives the name of the condition its type.
        let (read, bound) = names.recordingBinds { nodes.compactMap { body($0) } }
        for step in read.map(\.0) {
            for name in step.ends where !bound.contains(name) {
                problems.error(
                    loopNode.place, "a loop can't end '\(name)', which was defined before it",
                    "End it after the loop; in the second round it could not be used")
            }
        }
        guard let condition, let (name, expectation) = self.condition(condition, bound), let atMost else {
            return nil
        }
        let loop = CallLoop(name: name, condition: expectation, atMost: atMost, steps: read.map(\.0))
        return (CallStep(action: .loop(loop)), read.flatMap(\.1))
    }

    private func body(_ node: YAMLNode) -> (CallStep, [Place])? {
        guard let (step, places) = steps.step(node, isInLoop: true) else { return nil }
        if step.always {
            problems.error(
                node.place, "a step of a loop can't have 'always'",
                "Put the step that cleans up after the loop")
        }
        return (step, places)
    }

    private func condition(_ node: YAMLNode, _ bound: Set<String>) -> (String, CallExpectation)? {
        guard let fields = Fields(node, "while", keys: nil, problems) else { return nil }
        guard fields.all.count == 1, let (name, place, value) = fields.all.first else {
            problems.error(
                node.place, "'while' must have one name", "Write the name and its values: {code: 0}")
            return nil
        }
        guard let meaning = names.use(name, at: place) else { return nil }
        guard bound.contains(name) else {
            problems.error(
                place, "no step of the loop gives '\(name)' a value, so the loop would never end",
                "Name the result of a step of the loop")
            return nil
        }
        guard case .value(let type) = meaning else {
            problems.error(place, "'\(name)' is memory, and not a value", "Name the result of a function")
            return nil
        }
        return ExpectationReader(problems: problems).expectation(value, of: type, "while").map { (name, $0) }
    }
}
