import HandlerRegistry
import TaskModel

/// The beginning of a `call:`, with the functions of headers in it.
///
/// The types are right. The values are empty ones, which people replace.
public struct CallDraft: Sendable {
    /// The lines of the call, from `library:` on, without indentation.
    let lines: [String]
    /// The headers as the user named them.
    let headers: [String]

    /// Reads headers, and writes one step for each function.
    ///
    /// - Parameters:
    ///   - functions: The names of the functions, at least one.
    ///   - headers: The names of the headers that declare them, at least one: `zlib.h`.
    ///   - library: The library with all functions; `nil` searches one for each of them.
    ///   - path: The value of `PATH`, in which the C compiler is searched for.
    /// - Throws: ``AuthoringError`` if a header can't be read, or if a function is not declared, is in no
    ///   library, or has a type that a call can't pass.
    public init(
        _ functions: [String], headers: [String], library: String?, path: String
    ) throws(AuthoringError) {
        for header in headers where !CallHeader.isValid(header) {
            throw AuthoringError(
                "the header '\(header)'", "it is not the name of a header",
                "Write it as an #include does, without < and >: zlib.h, or curl/curl.h")
        }
        var source = HeaderSource(programs: HeaderPrograms(path: path))
        let found: HeaderDeclarations
        do {
            found = try source.declarations(headers, libraries: [library].compactMap(\.self))
        } catch {
            throw AuthoringError(headers.joined(separator: ", "), error.finding, error.remedy)
        }
        var libraries = FunctionLibraries()
        var steps: [(function: HeaderFunction, library: String)] = []
        for name in functions {
            guard let function = found.functions[name] else {
                let (finding, remedy) = CallLinter.undeclared(
                    name, found, headers, adding: "--header HEADER")
                throw AuthoringError("new call", finding, remedy)
            }
            let top = HeaderDirectories(libraries: [], headers: [], programs: source.programs)
            let files = [function.file] + headers.compactMap { top.path(of: $0) }
            if let library {
                if let problem = libraries.problem(of: library, name) {
                    throw AuthoringError(library, problem.finding, problem.remedy)
                }
                steps.append((function, library))
            } else if let library = libraries.library(with: name, declaredIn: files) {
                steps.append((function, library))
            } else {
                throw AuthoringError(
                    name,
                    "\(function.place) declares it, and no library of this machine was found that has it",
                    "Name the library as 'ldconfig -p' lists it: --library libNAME.so.N")
            }
        }
        var writer = CallDraftWriter(structs: found.structs)
        for step in steps { try writer.add(step.function, library: step.library, of: steps[0].library) }
        var headers = headers
        // It declares memset, which the memory of a struct needs.
        if writer.hasMemory, !headers.contains("string.h") { headers.append("string.h") }
        let list = headers.count == 1 ? headers[0] : "[\(headers.joined(separator: ", "))]"
        self.headers = headers
        lines = ["library: \(steps[0].library)", "header: \(list)"] + writer.lines
    }
}

/// Writes the steps of a draft.
private struct CallDraftWriter {
    private static let bufferSize = 4096
    private static let reserved: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]

    let structs: HeaderStructs
    /// Whether a step calls `memset` to get memory for a struct.
    private(set) var hasMemory = false
    private var steps: [String] = []
    private var callbacks: [String] = []
    private var declared: [String] = []
    private var names: Set<String> = []
    /// The names that later arguments of the same type use, by the type.
    private var handles: [String: String] = [:]

    init(structs: HeaderStructs) {
        self.structs = structs
    }

    var lines: [String] {
        var lines: [String] = []
        if !declared.isEmpty { lines += ["structs:"] + declared.map { "  " + $0 } }
        if !callbacks.isEmpty { lines += ["callbacks:"] + callbacks.map { "  " + $0 } }
        return lines + ["steps:"] + steps.map { "  " + $0 }
    }

    mutating func add(
        _ function: HeaderFunction, library: String, of first: String
    ) throws(AuthoringError) {
        let signature = function.signature
        var lines = ["# \(function.place): \(function.text)", "- function: \(function.name)"]
        if library != first { lines.append("  library: \(library)") }
        let parameters = signature.parameters ?? []
        var arguments: [String] = []
        for (index, parameter) in parameters.enumerated() {
            guard let argument = try argument(parameter, index + 1, function) else {
                let kind =
                    if case .other(let name) = parameter.type { name } else {
                        "a union, or a struct with bit fields"
                    }
                throw AuthoringError(
                    function.name,
                    "its argument \(index + 1), '\(parameter.text)', is \(kind), which a call can't pass",
                    "Write a plugin instead: bgtask new c NAME")
            }
            arguments.append("    - \(argument)  # \(parameter.text)")
        }
        lines += try result(function)
        if signature.isVariadic {
            lines.append("  variadicFrom: \(parameters.count + 1)")
            arguments.append("    # The variable arguments follow, such as {int: 1}, {string: text} or null.")
        }
        if !arguments.isEmpty { lines += ["  arguments:"] + arguments }
        steps += lines
    }

    private mutating func result(_ function: HeaderFunction) throws(AuthoringError) -> [String] {
        switch function.signature.returns {
        case .void: return []
        case .structure(let key):
            guard let name = declare(key) else {
                throw AuthoringError(
                    function.name, "it returns a union, or a struct with bit fields, which a call can't use",
                    "Write a plugin instead: bgtask new c NAME")
            }
            return ["  returns: {struct: \(name)}", "  as: \(self.name(name))"]
        case .pointer(let target, _) where !target.isText:
            let name = function.name
            let type = function.text.firstRange(of: name + "(").map { function.text[..<$0.lowerBound] } ?? ""
            let word = type.split { " *".contains($0) }.last.map { $0.lowercased() } ?? "result"
            let result = self.name(word == "void" ? "result" : word)
            if let handle = Self.handle(target, String(type)) { handles[handle] = result }
            return ["  returns: pointer", "  as: \(result)", "  expect: {not: null}"]
        case let type:
            guard let word = type.word else {
                throw AuthoringError(
                    function.name, "it returns a type that a call can't use",
                    "Write a plugin instead: bgtask new c NAME")
            }
            return ["  returns: \(word.rawValue)"]
        }
    }

    /// The argument for a parameter; `nil` if a call can't pass one.
    private mutating func argument(
        _ parameter: HeaderSignature.Parameter, _ position: Int, _ function: HeaderFunction
    ) throws(AuthoringError) -> String? {
        switch parameter.type {
        case .integer(_, _, .bool): return "{bool: false}"
        case .integer(_, _, let word), .floating(let word): return "{\(word.rawValue): 0}"
        case .pointer(let target, let isConstant): return try pointer(target, isConstant, parameter, position)
        case .structure(let key): return structure(key, parameter, position)
        case .void, .function, .array, .other: return nil
        }
    }

    private mutating func pointer(
        _ target: HeaderType, _ isConstant: Bool, _ parameter: HeaderSignature.Parameter, _ position: Int
    ) throws(AuthoringError) -> String? {
        let wanted = parameter.name ?? "argument\(position)"
        if let handle = Self.handle(target, parameter.text), let name = handles[handle] {
            return "{use: \(name)}"
        }
        switch target {
        case .function(let signature): return callback(signature, wanted)
        case .pointer(let inner, _):
            if inner.isText, isConstant || parameter.text.hasSuffix("[]") { return "{argv: []}" }
            let name = name(wanted)
            if let handle = Self.handle(inner, parameter.text) { handles[handle] = name }
            return "{out: \(inner.isText ? "string" : "pointer"), as: \(name)}"
        case .structure, .array:
            guard let size = structs.layout(target)?.size, size > 0 else { return "null" }
            return "{buffer: \(size), as: \(name(wanted))}"
        case .integer(_, _, let word) where !target.isText:
            return "{inout: \(word.rawValue), as: \(name(wanted)), from: \(word == .bool ? "false" : "0")}"
        case .floating(let word): return "{inout: \(word.rawValue), as: \(name(wanted)), from: 0}"
        case .integer where isConstant && target == .character: return "{string: \"\"}"
        case .integer: return "{buffer: \(Self.bufferSize), as: \(name(wanted))}"
        default: return "null"
        }
    }

    /// A struct by value, from memory that a step before this one makes.
    private mutating func structure(
        _ key: String, _ parameter: HeaderSignature.Parameter, _ position: Int
    ) -> String? {
        guard let declared = declare(key), let size = structs.layout(.structure(key))?.size else {
            return nil
        }
        let name = name(parameter.name ?? "argument\(position)")
        hasMemory = true
        steps += [
            "# Memory for '\(parameter.text)'; 'set' gives its members their values.",
            "- function: memset", "  library: libc.so.6", "  returns: pointer",
            "  arguments: [{buffer: {struct: \(declared)}, as: \(name)}, {int: 0}, {size: \(size)}]",
        ]
        return "{struct: \(declared), of: \(name)}"
    }

    /// Adds a struct to `structs`; `nil` if a call can't pass it.
    private mutating func declare(_ key: String) -> String? {
        guard let places = structs.places(key), let size = structs.layout(.structure(key))?.size else {
            return nil
        }
        let name = Self.key(structs.names[key] ?? "struct1")
        let members = places.map {
            "\(Self.key($0.name)): {offset: \($0.offset), type: \($0.type.rawValue)}"
        }
        let line = "\(name): {size: \(size), members: {\(members.joined(separator: ", "))}}"
        if !declared.contains(line) { declared.append(line) }
        return name
    }

    private mutating func callback(_ signature: HeaderSignature, _ wanted: String) -> String? {
        let types = (signature.parameters ?? []).map(\.type.word)
        guard !types.contains(nil), let returns = signature.returns.word else { return nil }
        let name = name(wanted)
        let words = types.compactMap { $0?.rawValue }.joined(separator: ", ")
        let result = returns == .string ? CallType.pointer : returns
        callbacks.append("\(name): {returns: \(result.rawValue), parameters: [\(words)]}")
        return "{callback: \(name)}"
    }

    /// A name that the draft does not have yet.
    private mutating func name(_ wanted: String) -> String {
        let base = Self.key(wanted)
        var (name, number) = (base, 2)
        while !names.insert(name).inserted {
            name = "\(base)\(number)"
            number += 1
        }
        return name
    }

    /// A valid name of a manifest: a letter, then letters, digits and `_`.
    private static func key(_ text: String) -> String {
        let name = String(text.drop { !$0.isASCII || !$0.isLetter }.prefix(60))
        return name.isEmpty || reserved.contains(name.lowercased()) ? "value_\(name)" : name
    }

    /// What makes two pointers of one kind: their struct, or the typedef of a `void`, such as `CURL`.
    private static func handle(_ target: HeaderType, _ text: String) -> String? {
        if case .structure(let key) = target { return key }
        guard target == .void, let star = text.firstIndex(of: "*") else { return nil }
        let type = text[..<star].split(separator: " ").filter { $0 != "const" }.joined(separator: " ")
        return type == "void" ? nil : type
    }
}
