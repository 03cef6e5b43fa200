import StrictFiles
import TaskModel

/// Reads the steps that call no function: files, and members of structs.
struct MemoryStepReader {
    let steps: StepReader

    private var names: CallNames { steps.names }
    private var problems: ProblemList { steps.problems }

    func save(_ node: YAMLNode) -> CallStep? {
        guard let outer = Fields(node, "a step that saves", keys: ["save"], problems),
            let saveNode = outer["save"],
            let fields = Fields(saveNode, "save", keys: ["from", "length", "to"], problems)
        else { return nil }
        let from = fields.required("from", "save", problems)
        let lengthNode = fields["length"]
        let length = lengthNode.flatMap { steps.invocations.source($0, of: .size) }
        let to = fields.required("to", "save", problems)
        guard let from, let to, let name = from.text("from", problems),
            let meaning = names.use(name, at: from.place),
            let path = to.text("to", problems), lengthNode == nil || length != nil
        else { return nil }
        if case .value(let type) = meaning, !type.isPointer {
            problems.error(from.place, "'\(name)' is not memory", "Save a buffer, a file or a pointer")
        }
        checkPath(path, at: to.place)
        return CallStep(action: .save(CallSave(from: name, length: length, to: path)))
    }

    /// Reads `{map: PATH, as: NAME}` or `{read: PATH, as: NAME}`.
    func file(_ node: YAMLNode, _ word: String) -> CallStep? {
        guard let fields = Fields(node, "a step with '\(word)'", keys: [word, "as"], problems),
            let pathNode = fields[word], let path = pathNode.text(word, problems),
            let nameNode = fields.required("as", "a step with '\(word)'", problems),
            let name = nameNode.text("as", problems)
        else { return nil }
        checkPath(path, at: pathNode.place)
        names.bind(name, .memory, at: nameNode.place)
        return CallStep(action: word == "map" ? .map(path, name: name) : .read(path, name: name))
    }

    /// Reads `{get: {of: NAME, ...}, as: NAME, expect: ...}`.
    func get(_ node: YAMLNode) -> CallStep? {
        guard let fields = Fields(node, "a step with 'get'", keys: ["get", "as", "expect"], problems),
            let field = fields["get"].flatMap(field)
        else { return nil }
        var step = CallStep(action: .get(field))
        if let nameNode = fields["as"], let name = nameNode.text("as", problems) {
            names.bind(name, .value(field.type), at: nameNode.place)
            step.result = name
        }
        if let expect = fields["expect"] {
            step.expect = ExpectationReader(problems: problems).expectation(expect, of: field.type, "expect")
        }
        if fields["as"] == nil, fields["expect"] == nil {
            problems.error(node.place, "nothing uses the value of 'get'", "Add a name: as: NAME")
        }
        return step
    }

    /// Reads `{set: {of: NAME, ...}, to: VALUE}`.
    func set(_ node: YAMLNode) -> CallStep? {
        guard let fields = Fields(node, "a step with 'set'", keys: ["set", "to"], problems),
            let field = fields["set"].flatMap(field),
            let to = fields.required("to", "a step with 'set'", problems),
            let value = steps.invocations.source(to, of: field.type)
        else { return nil }
        return CallStep(action: .set(field, value))
    }

    private func field(_ node: YAMLNode) -> CallField? {
        StructsReader(problems: problems).field(
            node, "the place of a member", steps.invocations.structs, names)
    }

    private func checkPath(_ path: String, at place: Place) {
        guard PayloadText.isTemplate(path) else { return }
        PayloadText.check(path, in: steps.payload, allowing: [.string], at: place, problems)
    }
}
