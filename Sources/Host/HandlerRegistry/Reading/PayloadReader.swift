import StrictFiles
import TaskModel

/// Reads `payload:` of a task: its keys with their types, and the defaults of those that may be left out.
struct PayloadReader {
    /// The keys of a task's payload.
    struct Keys {
        var types: [String: PayloadType] = [:]
        var defaults: [String: PayloadDefault] = [:]

        /// The keys without a default.
        var required: [String: PayloadType] { types.filter { defaults[$0.key] == nil } }
    }

    /// Whether the host fills in the values, as for `call` and `command`; only then can a key have a default.
    let isFilledIn: Bool
    let problems: ProblemList

    /// Reads the keys: `{path: string, level: {type: integer, default: 6}}`.
    func keys(_ node: YAMLNode) -> Keys {
        guard let fields = Fields(node, "payload", keys: nil, problems) else { return Keys() }
        var keys = Keys()
        for (key, place, value) in fields.all {
            if !PayloadText.isKey(key) {
                problems.error(
                    place, "not a valid payload key: '\(key.shortened)'",
                    "Use a letter, then letters, digits and _, at most 64 in all")
            }
            guard case .mapping = value.value else {
                keys.types[key] = type(value, of: key)
                continue
            }
            let what = "the payload key '\(key.shortened)'"
            guard let entry = Fields(value, what, keys: ["type", "default"], problems),
                let type = entry.required("type", what, problems).flatMap({ type($0, of: key) })
            else { continue }
            keys.types[key] = type
            if let node = entry["default"] { keys.defaults[key] = standard(node, of: type, key) }
        }
        return keys
    }

    private func type(_ node: YAMLNode, of key: String) -> PayloadType? {
        node.word("the type of '\(key.shortened)'", as: PayloadType.self, problems)
    }

    private func standard(_ node: YAMLNode, of type: PayloadType, _ key: String) -> PayloadDefault? {
        guard isFilledIn else {
            problems.error(
                node.place,
                "'\(key.shortened)' can't have a default, because a handler reads the payload itself",
                "Remove it, or use 'call' or 'command'")
            return nil
        }
        let literals = LiteralReader(payload: [:], problems: problems)
        switch type {
        case .string: return node.text("default", problems).map { .string($0) }
        case .boolean: return node.bool("default", problems).map { .boolean($0) }
        case .integer:
            guard case .integer(let number) = literals.literal(node, of: .int64) else { return nil }
            return .integer(number)
        case .number:
            guard case .floating(let number) = literals.literal(node, of: .double), number.isFinite else {
                return nil
            }
            return .number(number)
        }
    }
}
