import StrictFiles
import TaskModel

/// Reads the function, the arguments and the library of one call.
struct InvocationReader {
    /// The greatest number of arguments of one function.
    static let maximumArguments = 32

    let payload: [String: PayloadType]
    let callbacks: [String]
    /// The structs that the call declares, by name.
    let structs: [String: CallStruct]
    let names: CallNames
    let problems: ProblemList
    let library: (YAMLNode) -> String?

    /// Reads `message:` or `onExpiration:`, which can have only a function, arguments and a library.
    func short(_ node: YAMLNode, _ what: String, returns: CallType, others: [String] = []) -> (
        invocation: CallInvocation, place: Place
    )? {
        let keys = ["function", "arguments", "library"] + others
        guard let fields = Fields(node, what, keys: keys, problems) else { return nil }
        guard let (invocation, place) = invocation(fields, what, returns: returns) else { return nil }
        if invocation.arguments.contains(where: { $0.boundName != nil }) {
            problems.error(
                place, "an argument of \(what) can't define a name", "Use only names that a step defines")
        }
        return (invocation, place)
    }

    /// Reads the keys that steps, `message:` and `onExpiration:` have in common.
    func invocation(
        _ fields: Fields, _ what: String, returns: CallType
    ) -> (invocation: CallInvocation, place: Place)? {
        let node = fields.required("function", what, problems)
        let nodes = fields["arguments"].map { $0.items("arguments", problems) ?? [] } ?? []
        let arguments = nodes.map(argument)
        let library = fields["library"].flatMap(self.library)
        let variadicFrom = fields["variadicFrom"]?.integer(
            "variadicFrom", in: 2...max(2, nodes.count + 1), problems)
        if nodes.count > Self.maximumArguments, let place = fields["arguments"]?.place {
            problems.error(
                place, "there are \(nodes.count) arguments; the limit is \(Self.maximumArguments)",
                "Write a plugin instead: Documentation/PluginGuide.md")
        }
        guard let node, let function = node.text("function", problems) else { return nil }
        guard function.utf8.count <= 255, !function.isEmpty,
            function.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            problems.error(
                node.place, "not a valid function name: '\(function.shortened)'",
                "Give the name of a C function")
            return nil
        }
        guard !arguments.contains(nil) else { return nil }
        return (
            CallInvocation(
                library: library, function: function, returns: returns,
                arguments: arguments.compactMap(\.self),
                variadicFrom: variadicFrom),
            node.place
        )
    }

    /// Reads one argument; returns `nil` after a problem has been reported.
    private func argument(_ node: YAMLNode) -> CallArgument? {
        if node.isNull { return .null }
        guard case .mapping(let pairs) = node.value, let first = pairs.first,
            case .scalar(let word, _) = first.key.value
        else {
            problems.error(
                node.place, "not a valid argument: \(node.found)",
                "Write null, or a mapping such as {int: 1}, {string: text} or {use: name}: Documentation/Call.md"
            )
            return nil
        }
        switch word {
        case "use":
            return field(node, "use", []).flatMap { name in names.use(name.0, at: name.1) }.map { _ in
                .use(text(first.value))
            }
        case "sizeOf": return sizeOf(node)
        case "callback": return callback(node)
        case "out": return out(node)
        case "inout": return reference(node)
        case "buffer": return buffer(node)
        case "file": return file(node)
        case "field": return member(node)
        case "argv": return list(node)
        case "struct": return structure(node)
        default: return literal(node, word, first)
        }
    }

    private func literal(
        _ node: YAMLNode, _ word: String, _ pair: (key: YAMLNode, value: YAMLNode)
    ) -> CallArgument? {
        let words =
            ["use", "sizeOf", "callback", "out", "inout", "buffer", "file", "field", "argv", "struct"]
            + CallType.allCases.map(\.rawValue)
        let isStructure = word.hasPrefix("struct") || word.hasPrefix("union") || word.contains("*")
        guard words.contains(word) || isStructure else {
            problems.error(
                pair.key.place, "unknown argument '\(word.shortened)'",
                Nearest.advice(for: word, in: words, noun: "arguments"))
            return nil
        }
        guard
            let type = CallTypeReader(problems: problems).type(
                named: word, at: pair.key.place, allowing: .arguments),
            Fields(node, "an argument", keys: [word], problems) != nil
        else { return nil }
        if case .mapping = pair.value.value { return converted(pair.value, to: type) }
        guard let literal = LiteralReader(payload: payload, problems: problems).literal(pair.value, of: type)
        else { return nil }
        return literal == .null ? .null : .literal(type, literal)
    }

    /// Reads `{int: {use: name}}`.
    private func converted(_ node: YAMLNode, to type: CallType) -> CallArgument? {
        guard let (name, place) = field(node, "use", []), let meaning = names.use(name, at: place) else {
            return nil
        }
        guard case .value(let other) = meaning, !other.isPointer, !type.isPointer else {
            problems.error(
                place, "'\(name)' can't be converted to \(type.rawValue)",
                "Only a number can be converted, and only to a type of numbers. Write {use: \(name)}")
            return nil
        }
        return .converted(type, name)
    }

    private func member(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "an argument", keys: ["field"], problems) else { return nil }
        return fields["field"].flatMap {
            StructsReader(problems: problems).field($0, "field", structs, names)
        }.map { .field($0) }
    }

    /// Reads `{struct: STRUCT, of: NAME}`.
    private func structure(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "an argument", keys: ["struct", "of"], problems),
            let of = fields.required("of", "a struct", problems), let name = of.text("of", problems),
            let meaning = names.use(name, at: of.place),
            let members = fields["struct"].flatMap({
                StructsReader(problems: problems).members(of: $0, structs)
            })
        else { return nil }
        if case .value(let type) = meaning, !type.isPointer {
            problems.error(of.place, "'\(name)' is not the address of a struct", "Name a pointer or a buffer")
        }
        return .structure(members, name)
    }

    /// Reads `{argv: [TEXT, ...]}`.
    private func list(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "an argument", keys: ["argv"], problems),
            let nodes = fields["argv"]?.items("argv", problems)
        else { return nil }
        problems.checkCount(
            nodes.count, of: "texts in 'argv'", atMost: StepReader.maximumListed, fields["argv"]?.place)
        let literals = LiteralReader(payload: payload, problems: problems)
        let texts = nodes.map { node -> String? in
            switch literals.literal(node, of: .string) {
            case .text(let text): return text
            case nil: return nil
            default:
                problems.error(
                    node.place, "a text of 'argv' can't be null", "The list ends with NULL by itself")
                return nil
            }
        }
        return texts.contains(nil) ? nil : .list(texts.compactMap(\.self))
    }

    private func sizeOf(_ node: YAMLNode) -> CallArgument? {
        guard let (name, place) = field(node, "sizeOf", []), let meaning = names.use(name, at: place) else {
            return nil
        }
        guard meaning == .memory else {
            problems.error(place, "'\(name)' has no size", "Give sizeOf the name of a buffer or a file")
            return nil
        }
        return .sizeOf(name)
    }

    private func callback(_ node: YAMLNode) -> CallArgument? {
        guard let (name, place) = field(node, "callback", []) else { return nil }
        guard callbacks.contains(name) else {
            problems.error(
                place, "callback '\(name.shortened)' does not exist",
                Nearest.advice(for: name, in: callbacks, noun: "callbacks"))
            return nil
        }
        return .callback(name)
    }

    private func out(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "out", keys: ["out", "as"], problems), let typeNode = fields["out"],
            let type = CallTypeReader(problems: problems).type(typeNode, allowing: .arguments),
            let name = bind(fields, "out", .value(type))
        else { return nil }
        return .out(type, name: name)
    }

    private func reference(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "inout", keys: ["inout", "as", "from"], problems),
            let typeNode = fields["inout"],
            let type = CallTypeReader(problems: problems).type(typeNode, allowing: .arguments),
            let from = fields.required("from", "inout", problems), let source = source(from, of: type),
            let name = bind(fields, "inout", .value(type))
        else { return nil }
        return .reference(type, name: name, from: source)
    }

    private func buffer(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "buffer", keys: ["buffer", "as"], problems),
            let size = fields["buffer"], let source = bufferSize(size),
            let name = bind(fields, "buffer", .memory)
        else { return nil }
        return .buffer(source, name: name)
    }

    /// Reads the size of a buffer: a number of bytes, the name of an integer, or `{struct: NAME}`.
    private func bufferSize(_ node: YAMLNode) -> CallSource? {
        guard case .mapping = node.value else {
            return node.isSize ? size(node) : source(node, of: .size)
        }
        guard let (name, place) = field(node, "struct", []) else { return nil }
        guard let structure = structs[name] else {
            problems.error(
                place, "'structs' declares no struct '\(name.shortened)'",
                Nearest.advice(for: name, in: structs.keys.sorted(), noun: "structs"))
            return nil
        }
        return .literal(.integer(Int64(structure.size)))
    }

    private func size(_ node: YAMLNode) -> CallSource? {
        if case .scalar(let text, isPlain: true) = node.value, let number = Int64(text), number > 0 {
            return .literal(.integer(number))
        }
        return node.size("the size of a buffer", in: ByteCount(bytes: 1) ... .gibibytes(64), problems)
            .map { .literal(.integer($0.bytes)) }
    }

    private func file(_ node: YAMLNode) -> CallArgument? {
        guard let fields = Fields(node, "file", keys: ["file", "as"], problems),
            let pathNode = fields["file"],
            let path = pathNode.text("file", problems), let name = bind(fields, "file", .memory)
        else { return nil }
        if PayloadText.isTemplate(path) {
            PayloadText.check(path, in: payload, allowing: [.string], at: pathNode.place, problems)
        }
        return .file(path, name: name)
    }

    /// Reads a value that is a literal or the name of an earlier result.
    func source(_ node: YAMLNode, of type: CallType) -> CallSource? {
        if case .scalar(let text, _) = node.value, PayloadText.isKey(text), !node.isNull, text != "true",
            text != "false"
        {
            guard let meaning = names.use(text, at: node.place) else { return nil }
            if case .value(let other) = meaning, other.isPointer == type.isPointer { return .name(text) }
            if meaning == .memory, type.isPointer { return .name(text) }
            problems.error(node.place, "'\(text)' is not of type \(type.rawValue)", "Use a name of that type")
            return nil
        }
        return LiteralReader(payload: payload, problems: problems).literal(node, of: type).map {
            .literal($0)
        }
    }

    private func bind(_ fields: Fields, _ what: String, _ meaning: CallNames.Meaning) -> String? {
        guard let node = fields.required("as", what, problems), let name = node.text("as", problems) else {
            return nil
        }
        names.bind(name, meaning, at: node.place)
        return name
    }

    private func field(_ node: YAMLNode, _ key: String, _ others: [String]) -> (String, Place)? {
        guard let fields = Fields(node, "an argument", keys: [key] + others, problems),
            let value = fields[key],
            let name = value.text(key, problems)
        else { return nil }
        return (name, value.place)
    }

    private func text(_ node: YAMLNode) -> String {
        if case .scalar(let text, _) = node.value { text } else { "" }
    }
}

extension YAMLNode {
    /// Whether the text begins with a digit, as sizes do and names do not.
    fileprivate var isSize: Bool {
        if case .scalar(let text, _) = value {
            text.first.map { ("0"..."9").contains($0) } ?? false
        } else {
            false
        }
    }
}
