public import StrictFiles
import TaskModel

/// The positions of a call's parts in the manifest, for messages.
struct CallPlaces {
    /// The position of the call's `library:`.
    var library: Place
    /// The position of each function name, in the order of `CallProgram.invocations`.
    var functions: [Place]
    /// The headers that declare the functions, with their positions.
    var headers: [CallHeader] = []
}

/// A C header that a call names, for `bgtask lint`; the host does not read it.
public struct CallHeader: Equatable, Sendable {
    /// The name as in an `#include`: `zlib.h`, or `curl/curl.h`.
    public let name: String
    /// The position in the manifest.
    public let place: Place

    /// Whether a name is a relative path of ordinary characters that ends in `.h`.
    ///
    /// Lint gives the header to a preprocessor, so a manifest of a stranger can name only a file below the
    /// system's directories for headers.
    public static func isValid(_ name: String) -> Bool {
        guard name.utf8.count <= 200, name.hasSuffix(".h") else { return false }
        return name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            part.first.map { $0 != "." && $0 != "-" } ?? false
                && part.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                        || (0x61...0x7A).contains(byte) || "._+-".utf8.contains(byte)
                }
        }
    }
}

/// Reads a `call:`: the grammar of Documentation/Call.md.
struct CallReader {
    /// The payload keys that the task declares, with their types.
    let payload: [String: PayloadType]
    let problems: ProblemList

    /// The greatest number of steps.
    ///
    /// Calls are for jobs of two to ten steps, and an encoded program must fit in one frame of the runner
    /// protocol.
    static let maximumSteps = 64
    /// The greatest number of headers: more than the libraries of one call have.
    private static let maximumHeaders = 16

    /// Reads a `call:`; returns `nil` if it can't be used, after a problem has been reported.
    func program(_ node: YAMLNode) -> (program: CallProgram, places: CallPlaces)? {
        let keys = ["library", "header", "structs", "callbacks", "steps", "message", "onExpiration"]
        guard let fields = Fields(node, "call", keys: keys, problems) else { return nil }
        let libraryNode = fields.required("library", "call", problems)
        let library = libraryNode.flatMap { self.library($0) }
        let callbacks = fields["callbacks"].map(callbacks) ?? []
        problems.checkCount(
            callbacks.count, of: "callbacks", atMost: CallNames.maximum, fields["callbacks"]?.place)
        let steps = fields.required("steps", "call", problems)?.items("steps", problems) ?? []
        if steps.isEmpty, let place = fields["steps"]?.place {
            problems.error(place, "there are no steps", "Add a step: {function: NAME}")
        }
        let structs = fields["structs"].map { StructsReader(problems: problems).structs($0) } ?? [:]
        let names = CallNames(problems: problems)
        let invocations = InvocationReader(
            payload: payload, callbacks: callbacks.map(\.name), structs: structs, names: names,
            problems: problems, library: self.library)
        let stepReader = StepReader(
            payload: payload, invocations: invocations, names: names, problems: problems)
        var functions: [Place] = []
        let read = steps.compactMap { step -> CallStep? in
            guard let (step, places) = stepReader.step(step) else { return nil }
            functions += places
            return step
        }
        let count = steps.count - read.count + read.reduce(0) { $0 + $1.count }
        if count > Self.maximumSteps, let place = fields["steps"]?.place {
            problems.error(
                place, "there are \(count) steps; the limit is \(Self.maximumSteps)",
                "Remove steps, or write a plugin instead: Documentation/PluginGuide.md")
        }
        problems.checkCount(
            names.count, of: "names", atMost: CallNames.maximum, fields["steps"]?.place)
        names.isFlowChecked = false
        let message = fields["message"].flatMap {
            invocations.short($0, "message", returns: .string, others: ["offset"])
        }
        let onExpiration = fields["onExpiration"].flatMap {
            invocations.short($0, "onExpiration", returns: .void)
        }
        functions += [message?.place, onExpiration?.place].compactMap(\.self)
        guard let library, let libraryNode else { return nil }
        var program = CallProgram(
            library: library, callbacks: callbacks, steps: read, message: message?.invocation,
            onExpiration: onExpiration?.invocation)
        if message != nil, case .mapping(let pairs) = fields["message"]?.value,
            let offset = pairs.first(where: { $0.key.isWord("offset") })
        {
            program.messageOffset = offset.value.integer(
                "offset", in: 0...StructsReader.maximumSize, problems)
        }
        return (
            program,
            CallPlaces(
                library: libraryNode.place, functions: functions,
                headers: fields["header"].map(headers) ?? [])
        )
    }

    /// Reads `header:`, one name or a list.
    private func headers(_ node: YAMLNode) -> [CallHeader] {
        var nodes = [node]
        if case .sequence = node.value { nodes = node.items("header", problems) ?? [] }
        problems.checkCount(nodes.count, of: "headers", atMost: Self.maximumHeaders, node.place)
        return nodes.compactMap { node in
            guard let name = node.text("header", problems) else { return nil }
            guard CallHeader.isValid(name) else {
                problems.error(
                    node.place, "not a valid header: '\(name.shortened)'",
                    "Write it as an #include does, without < and >: zlib.h, or curl/curl.h")
                return nil
            }
            return CallHeader(name: name, place: node.place)
        }
    }

    private func library(_ node: YAMLNode) -> String? {
        guard let name = node.text("library", problems) else { return nil }
        guard !name.contains("/"), name != ".", name != "..", name.utf8.count <= 255 else {
            problems.error(
                node.place, "library must be a file name, found a path: '\(name.shortened)'",
                "Give the name of a file in the plugins directory, or a library as the loader knows it: libz.so.1"
            )
            return nil
        }
        return name
    }

    private func callbacks(_ node: YAMLNode) -> [CallCallback] {
        guard let fields = Fields(node, "callbacks", keys: nil, problems) else { return [] }
        return fields.all.compactMap { name, place, value in
            if !PayloadText.isKey(name) {
                problems.error(
                    place, "not a valid callback name: '\(name.shortened)'",
                    "Use a letter, then letters, digits and _, at most 64 in all"
                )
            }
            return callback(name, value)
        }
    }

    private func callback(_ name: String, _ node: YAMLNode) -> CallCallback? {
        let keys = ["returns", "parameters", "onCall", "completed", "total", "continue", "stop"]
        guard let fields = Fields(node, "a callback", keys: keys, problems) else { return nil }
        let types = CallTypeReader(problems: problems)
        let returns = fields["returns"].map { types.type($0, allowing: .results) } ?? .void
        let parameters = (fields["parameters"]?.items("parameters", problems) ?? []).map {
            types.type($0, allowing: .arguments)
        }
        problems.checkCount(
            parameters.count, of: "parameters", atMost: InvocationReader.maximumArguments,
            fields["parameters"]?.place)
        guard let returns, !parameters.contains(nil) else { return nil }
        var callback = CallCallback(
            name: name, returns: returns, parameters: parameters.compactMap(\.self), counts: false,
            completed: nil,
            total: nil, proceed: .integer(0), stop: .integer(0))
        if returns == .string {
            problems.error(
                node.place, "a callback can't return a string", "Return pointer with the value null")
        }
        meaning(fields, &callback)
        let literals = LiteralReader(payload: [:], problems: problems)
        if returns == .void {
            for key in ["continue", "stop"] {
                if let place = fields[key]?.place {
                    problems.error(place, "a callback that returns nothing can't have '\(key)'", "Remove it")
                }
            }
        } else {
            let zero: CallLiteral =
                returns.isPointer ? .null : returns.isFloating ? .floating(0) : .integer(0)
            callback.proceed = fields["continue"].flatMap { literals.literal($0, of: returns) } ?? zero
            callback.stop = fields["stop"].flatMap { literals.literal($0, of: returns) } ?? callback.proceed
        }
        return callback
    }

    /// Reads what a callback reports: `onCall: count`, or the positions of parameters, with or without
    /// `onCall`.
    private func meaning(_ fields: Fields, _ callback: inout CallCallback) {
        var positions = fields
        if let node = fields["onCall"] {
            if case .mapping = node.value {
                guard let inner = Fields(node, "onCall", keys: ["completed", "total"], problems) else {
                    return
                }
                positions = inner
            } else {
                guard case .scalar("count", _) = node.value else {
                    problems.error(
                        node.place, "not a valid onCall: \(node.found)",
                        "Write 'count', or {completed: POSITION, total: POSITION}")
                    return
                }
                callback.counts = true
            }
        }
        callback.completed = positions["completed"].flatMap { position($0, "completed", callback) }
        callback.total = positions["total"].flatMap { position($0, "total", callback) }
        if callback.counts, let place = (positions["completed"] ?? positions["total"])?.place {
            problems.error(
                place, "a callback that counts can't have positions", "Remove 'onCall: count' or this key")
        }
        if callback.total != nil, positions["completed"] == nil, let place = positions["total"]?.place {
            problems.error(
                place, "'total' can't be used without 'completed'",
                "Add the position of the parameter with the number of completed units")
        }
    }

    private func position(_ node: YAMLNode, _ what: String, _ callback: CallCallback) -> Int? {
        guard let position = node.integer(what, in: 1...max(1, callback.parameters.count), problems) else {
            return nil
        }
        guard position <= callback.parameters.count,
            callback.parameters[position - 1].isInteger || callback.parameters[position - 1].isFloating
        else {
            problems.error(
                node.place, "parameter \(position) of '\(callback.name)' is not a number",
                "Give the position of a parameter that is a number; positions count from 1")
            return nil
        }
        return position
    }
}

extension ProblemList {
    /// Reports a list of a call that is too long for an encoded program; see call_program.h.
    func checkCount(_ count: Int, of what: String, atMost limit: Int, _ place: Place?) {
        guard count > limit else { return }
        error(
            place, "there are \(count) \(what); the limit is \(limit)",
            "Remove some, or write a plugin instead: Documentation/PluginGuide.md")
    }
}

extension YAMLNode {
    fileprivate func isWord(_ word: String) -> Bool {
        if case .scalar(word, _) = value { true } else { false }
    }
}
