import StrictFiles
import TaskModel

/// The definition of a custom condition, with the positions of its parts.
struct ReadCondition {
    var condition: CustomCondition
    /// The position of the condition's name.
    var place: Place
    /// The position of the path of the program in `command`; `nil` if the condition reads a file instead.
    var programPlace: Place?
}

/// Reads the definition of a custom condition as strictly as a manifest is read.
struct ConditionReader {
    private let problems: ProblemList

    /// Whether a file defines a condition, and is not a manifest: it has the key `condition`.
    static func isDefinition(_ bytes: [UInt8]) -> Bool {
        guard let root = YAMLDocument.parse(bytes, problems: ProblemList(file: "", kind: .condition)),
            case .mapping(let pairs) = root.value
        else { return false }
        return pairs.contains { pair in
            if case .scalar("condition", _) = pair.key.value { true } else { false }
        }
    }

    /// Reads the contents of a file.
    ///
    /// - Returns: The definition, or `nil` if there are errors; and all problems.
    static func read(_ bytes: [UInt8], file: String) -> (ReadCondition?, [ManifestProblem]) {
        let problems = ProblemList(file: file, kind: .condition)
        guard let root = YAMLDocument.parse(bytes, problems: problems) else { return (nil, problems.sorted) }
        let condition = Self(problems: problems).condition(root)
        return (problems.hasErrors ? nil : condition, problems.sorted)
    }

    private func condition(_ root: YAMLNode) -> ReadCondition? {
        let what = "the condition"
        guard
            let fields = Fields(
                root, what, keys: ["apiVersion", "condition", "source", "predicate"], problems)
        else { return nil }
        fields.checkVersion(what, problems)
        let nameNode = fields.required("condition", what, problems)
        let name = nameNode?.text("condition", problems)
        let source = fields.required("source", what, problems).flatMap(source)
        let predicate = fields.required("predicate", what, problems).flatMap(predicate)
        guard let name, let nameNode,
            RequiredConditionsReader.check(name, nameNode.place, isDefinition: true, problems),
            let source, let predicate
        else { return nil }
        return ReadCondition(
            condition: CustomCondition(name: name, source: source.0, predicate: predicate),
            place: nameNode.place, programPlace: source.program)
    }

    private func source(_ node: YAMLNode) -> (CustomCondition.Source, program: Place?)? {
        let keys = ["command", "interval", "timeout", "value", "file"]
        guard let fields = Fields(node, "source", keys: keys, problems) else { return nil }
        guard let file = fields["file"] else {
            guard let command = fields["command"] else {
                problems.error(node.place, "source has neither 'command' nor 'file'", "Add one of them")
                return nil
            }
            return self.command(command, fields).map { (.command($0), command.place) }
        }
        for key in keys.dropLast() {
            guard let other = fields[key] else { continue }
            problems.error(
                other.place, "'\(key)' can't be used with 'file'",
                "Remove one of them; a file is watched, not run")
        }
        return absolute(file, "file").map { (.file($0), nil) }
    }

    private func command(_ node: YAMLNode, _ fields: Fields) -> ConditionCommand? {
        let items = node.items("command", problems)
        if items?.isEmpty == true {
            problems.error(node.place, "command is empty", "Give the path of a program")
        }
        var arguments = (items ?? []).map { $0.plainText("an argument of command", problems) }
        if let first = items?.first, arguments.first != .some(nil) {
            arguments[0] = absolute(first, "command's program")
        }
        let interval = fields["interval"].map {
            $0.duration("interval", in: .seconds(1)...Duration.seconds(86_400), problems)
        }
        let period = (interval ?? nil) ?? .seconds(60)
        let timeout = fields["timeout"].map {
            $0.duration("timeout", in: .milliseconds(100)...Duration.seconds(60), problems)
        }
        let limit = (timeout ?? nil) ?? min(.seconds(5), period / 2)
        if limit >= period, let place = fields["timeout"]?.place {
            problems.error(
                place, "timeout must be shorter than interval, which is \(DurationText.format(period))",
                "Use a shorter timeout or a longer interval")
        }
        let value = fields["value"].map {
            $0.word("value", as: ConditionCommand.Value.self, problems)
        }
        let known = arguments.compactMap(\.self)
        guard !known.isEmpty, known.count == arguments.count else { return nil }
        return ConditionCommand(
            arguments: known, interval: period, timeout: limit, value: (value ?? nil) ?? .exitStatus)
    }

    private func predicate(_ node: YAMLNode) -> ConditionPredicate? {
        let keys = ["equals", "notEquals", "above", "below", "matches"]
        guard let fields = Fields(node, "predicate", keys: keys, problems) else { return nil }
        guard let (key, _, value) = fields.all.first, fields.all.count == 1 else {
            problems.error(
                node.place, "predicate must have exactly one comparison, found \(fields.all.count)",
                "Use one of \(keys.joined(separator: ", "))")
            return nil
        }
        switch key {
        case "equals": return value.plainText(key, problems).map(ConditionPredicate.equals)
        case "notEquals": return value.plainText(key, problems).map(ConditionPredicate.notEquals)
        case "above": return number(value, key).map(ConditionPredicate.above)
        case "below": return number(value, key).map(ConditionPredicate.below)
        default:
            guard let pattern = value.plainText(key, problems) else { return nil }
            do {
                _ = try Regex(pattern)
                return .matches(pattern)
            } catch {
                problems.error(
                    value.place,
                    "'\(pattern.shortened)' is not a valid regular expression: \("\(error)".shortened)",
                    nil)
                return nil
            }
        }
    }

    private func number(_ node: YAMLNode, _ key: String) -> Double? {
        if case .scalar(let text, isPlain: true) = node.value, let number = Double(text), number.isFinite {
            return number
        }
        problems.error(
            node.place, "\(key) must be a number, found \(node.found)", "Write it without quotes, such as 20")
        return nil
    }

    private func absolute(_ node: YAMLNode, _ what: String) -> String? {
        guard let path = node.text(what, problems) else { return nil }
        if path.hasPrefix("/"), path.utf8.count < 4096, !path.split(separator: "/").contains("..") {
            return path
        }
        problems.error(
            node.place, "\(what) must be an absolute path without '..', found '\(path.shortened)'", nil)
        return nil
    }
}

extension YAMLNode {
    /// The text of a scalar, as it is written; a word for true or false must be in quotation marks.
    func plainText(_ what: String, _ problems: ProblemList) -> String? {
        guard case .scalar(let text, let isPlain) = value, !isNull else {
            problems.error(place, "\(what) must be text or a number, found \(found)", nil)
            return nil
        }
        // Quotation marks are required here: YAML has many words for true and false, and programs print
        // others.
        if isPlain, text == "true" || text == "false" {
            problems.error(place, "\(what) must be text or a number, found \(text)", "Put it in quotes")
            return nil
        }
        if text.utf8.contains(0) {
            problems.error(place, "\(what) contains a NUL byte", "Remove it")
            return nil
        }
        return text
    }
}

extension FileKind {
    /// How messages refer to definitions of conditions.
    static let condition = FileKind(
        plural: "Conditions", whenEmpty: "Begin it with 'apiVersion: bgtask/v1'",
        whenLarge: "Define one condition in each file")
}
