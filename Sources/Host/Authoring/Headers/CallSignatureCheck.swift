import TaskModel

/// Compares a call of a function with the function's declaration.
///
/// It reports only what would pass or read other bytes than the function does. The sign of a number is none
/// of these for an argument, and it is a warning for a result, which `expect` compares.
struct CallSignatureCheck {
    /// A difference.
    struct Finding: Equatable {
        var severity: ManifestProblem.Severity = .error
        var finding: String
        var remedy: String
    }

    let function: HeaderFunction
    let structs: HeaderStructs
    let callbacks: [CallCallback]
    let names: CallNameTypes

    /// All differences of a call; of its result only if the manifest says what the function returns, which
    /// `message` and `onExpiration` do not.
    func findings(_ call: CallInvocation, checksResult: Bool) -> [Finding] {
        (checksResult ? result(call).map { [$0] } ?? [] : []) + arguments(call)
    }

    private var signature: HeaderSignature { function.signature }
    private var declared: String { "\(function.place) declares: \(function.text)" }

    // MARK: Arguments

    private func arguments(_ call: CallInvocation) -> [Finding] {
        guard let parameters = signature.parameters else { return [] }
        let (given, wanted) = (call.arguments.count, parameters.count)
        if signature.isVariadic, given >= wanted, call.variadicFrom != wanted + 1 {
            return [
                Finding(
                    finding: "\(function.name) has variable arguments (...) from position \(wanted + 1), "
                        + "and the call has \(call.variadicFrom.map { "variadicFrom: \($0)" } ?? "no 'variadicFrom'")",
                    remedy: "Write 'variadicFrom: \(wanted + 1)'. \(declared)")
            ]
        }
        if !signature.isVariadic, let position = call.variadicFrom {
            return [
                Finding(
                    finding: "\(function.name) has no variable arguments (...), and the call has "
                        + "'variadicFrom: \(position)'",
                    remedy: "Remove 'variadicFrom'. \(declared)")
            ]
        }
        guard given == wanted || (signature.isVariadic && given > wanted) else {
            let least = signature.isVariadic ? "at least " : ""
            return [
                Finding(
                    finding: "\(function.name) takes \(least)\(Self.count(wanted, "argument")) "
                        + "(\(function.place)), and the call passes \(given)",
                    remedy: declared)
            ]
        }
        return zip(call.arguments, parameters).enumerated().compactMap { index, pair in
            mismatch(names.passed(pair.0), pair.1.type).map { (is, write) in
                Finding(
                    finding: "argument \(index + 1) of \(function.name) is '\(pair.1.text)' "
                        + "(\(function.place)), and the call passes \(`is`)",
                    remedy: write)
            }
        }
    }

    /// How a passed value differs from a parameter, and what to write instead; `nil` if it fits.
    private func mismatch(_ passed: PassedType, _ type: HeaderType) -> (String, String)? {
        switch type {
        case .void, .function, .array: return nil
        case .other(let name):
            return (Self.text(passed), "A call can't pass \(name). Write a plugin: bgtask new c")
        case .structure(let key): return mismatch(passed, ofStruct: key)
        case .integer(let bits, _, let word):
            if case .value(let other) = passed, other.integerFormat?.bits == bits { return nil }
            return (Self.text(passed), Self.advice(passed, word))
        case .floating(let word):
            return passed == .value(word) ? nil : (Self.text(passed), Self.advice(passed, word))
        case .pointer(let target, _): return mismatch(passed, pointer: target)
        }
    }

    private func mismatch(_ passed: PassedType, ofStruct key: String) -> (String, String)? {
        let name = structs.names[key] ?? key
        guard case .structure(let members) = passed else {
            return (
                Self.text(passed), "Declare the struct in 'structs', and write {struct: \(name), of: NAME}"
            )
        }
        guard let places = structs.places(key) else { return nil }
        let isSame = zip(places, members).allSatisfy { Self.isSame($0.type, $1) }
        guard places.count != members.count || !isSame else { return nil }
        let list = places.map { "\($0.name): {offset: \($0.offset), type: \($0.type.rawValue)}" }
        return (
            "a struct of other members",
            "The members of \(name) are {\(list.joined(separator: ", "))}"
        )
    }

    private func mismatch(_ passed: PassedType, pointer target: HeaderType) -> (String, String)? {
        switch passed {
        case .null: return nil
        case .value(let type): return type.isPointer ? nil : (Self.text(passed), advice(toPass: target))
        case .structure: return (Self.text(passed), "Write {use: NAME}, which is the address of the struct")
        case .text:
            if target == .void || target.isText { return nil }
            return (Self.text(passed), advice(toPass: target))
        case .list:
            if case .pointer(let inner, _) = target, inner.isText || inner == .void { return nil }
            return target == .void ? nil : (Self.text(passed), advice(toPass: target))
        case .callback(let name):
            guard case .function(let wanted) = target else {
                return target == .void ? nil : (Self.text(passed), advice(toPass: target))
            }
            return callbacks.first { $0.name == name }.flatMap { mismatch($0, wanted) }
        case .memory(let size):
            guard let size, !target.isText, let needed = structs.layout(target)?.size, needed > size
            else { return nil }
            return (
                "a buffer of \(Self.count(size, "byte"))",
                "It needs \(Self.count(needed, "byte")): {buffer: \(needed), as: NAME}"
            )
        case .address(let type):
            // A function can write to as many bytes as its own type has.
            guard !target.isText, let needed = structs.layout(target)?.size, needed != Self.size(type),
                needed > Self.size(type) || target.word?.isInteger == true
            else {
                return Self.isAddress(target) == type.isPointer || Self.isOpen(target)
                    ? nil : (Self.text(passed), advice(toPass: target))
            }
            return (
                "\(Self.text(passed)), which has \(Self.count(Self.size(type), "byte")) instead of \(needed)",
                target.word.map { "Use the type \($0.rawValue)" } ?? advice(toPass: target)
            )
        }
    }

    /// How a callback differs from the function that a library expects.
    private func mismatch(_ callback: CallCallback, _ wanted: HeaderSignature) -> (String, String)? {
        guard let parameters = wanted.parameters else { return nil }
        // `void (*)(void)` stands for any function, such as GLib's GCallback.
        if parameters.isEmpty, wanted.returns == .void { return nil }
        // The types as words, or what they are in the header if a callback can't have them.
        let words = parameters.map { $0.type.word?.rawValue ?? "'\($0.text)'" }.joined(separator: ", ")
        let returns = wanted.returns.word == .string ? .pointer : wanted.returns.word
        let right = "{returns: \(returns?.rawValue ?? "void"), parameters: [\(words)]}"
        guard parameters.count == callback.parameters.count else {
            let count = Self.count(callback.parameters.count, "parameter")
            return (
                "the callback '\(callback.name)' with \(count) instead of \(parameters.count)",
                "Declare it as \(right)"
            )
        }
        for (index, pair) in zip(parameters, callback.parameters).enumerated() {
            guard let word = pair.0.type.word, Self.isSame(word, pair.1) else {
                return (
                    "the callback '\(callback.name)', whose parameter \(index + 1) is \(pair.1.rawValue)",
                    "Declare it as \(right)"
                )
            }
        }
        let fits = wanted.returns.word.map { $0 == .void || Self.isSame($0, callback.returns) } ?? true
        if fits { return nil }
        return (
            "the callback '\(callback.name)', which returns \(callback.returns.rawValue)",
            "Declare it as \(right)"
        )
    }

    // MARK: The result

    private func result(_ call: CallInvocation) -> Finding? {
        let wanted = signature.returns
        let name = function.name
        func finding(
            _ found: String, _ remedy: String, _ severity: ManifestProblem.Severity = .error
        ) -> Finding {
            Finding(
                severity: severity,
                finding: "\(name) returns \(text(wanted)) (\(function.place)), and the call says \(found)",
                remedy: remedy)
        }
        if case .other = wanted {
            return finding(
                call.returns.rawValue, "A call can't use such a result. Write a plugin: bgtask new c")
        }
        if case .structure(let key) = wanted {
            guard let members = call.returnedStruct else {
                return finding(
                    "returns: \(call.returns.rawValue)",
                    "Declare the struct in 'structs', and write returns: {struct: \(structs.names[key] ?? key)}"
                )
            }
            return mismatch(.structure(members), ofStruct: key).map { finding($0.0, $0.1) }
        }
        guard let word = wanted.word else { return nil }
        let remedy = word == .void ? "Remove 'returns'" : "Write returns: \(word.rawValue)"
        if call.returnedStruct != nil { return finding("returns: {struct: ...}", remedy) }
        // A call need not look at a result.
        if call.returns == .void { return nil }
        let found = "returns: \(call.returns.rawValue)"
        if word == .void || !Self.isSame(word, call.returns) { return finding(found, remedy) }
        if call.returns == .string, case .pointer(let target, _) = wanted, !target.isText, target != .void {
            return finding(found, "Write returns: pointer")
        }
        if case .integer(_, let isSigned?, _) = wanted, call.returns.integerFormat?.isSigned != isSigned {
            return finding(found, remedy, .warning)
        }
        return nil
    }

    // MARK: Words

    private static func isSame(_ one: CallType, _ other: CallType) -> Bool {
        if one.isPointer || other.isPointer { return one.isPointer == other.isPointer }
        if one.isFloating || other.isFloating || one == .void || other == .void { return one == other }
        return one.integerFormat?.bits == other.integerFormat?.bits
    }

    private static func isAddress(_ type: HeaderType) -> Bool {
        if case .pointer = type { true } else { false }
    }

    /// Whether any variable can be behind a pointer to the type.
    private static func isOpen(_ type: HeaderType) -> Bool {
        switch type {
        case .void, .structure, .other, .array: true
        default: type.isText
        }
    }

    private static func size(_ type: CallType) -> Int {
        if type == .float { return 4 }
        return max(1, (type.integerFormat?.bits ?? 64) / 8)
    }

    /// What to write for a parameter that is a number.
    private static func advice(_ passed: PassedType, _ word: CallType) -> String {
        switch passed {
        case .value(let type) where !type.isPointer: "Write {\(word.rawValue): ...}"
        default: "Write a number: {\(word.rawValue): ...}"
        }
    }

    /// What to write for a parameter that is an address.
    private func advice(toPass target: HeaderType) -> String {
        switch target {
        case .void: "Write null, or the name of a pointer or a buffer: {use: NAME}"
        case .function: "Write null, or a callback: {callback: NAME}"
        case .pointer: "Write {out: pointer, as: NAME}"
        case .array:
            structs.layout(target).map { "Write {buffer: \($0.size), as: NAME}" }
                ?? "Write {buffer: SIZE, as: NAME}"
        case .structure(let key):
            structs.layout(target).map { layout in
                "Write null, the name of a pointer, or {buffer: \(layout.size), as: NAME}, the size of "
                    + (structs.names[key] ?? key)
            } ?? "Write null, or the name of a pointer: {use: NAME}"
        default:
            if target.isText {
                "Write {string: ...}, {use: NAME} or {buffer: SIZE, as: NAME}"
            } else {
                "Write {out: \(target.word?.rawValue ?? "pointer"), as: NAME}"
            }
        }
    }

    private func text(_ type: HeaderType) -> String {
        switch type {
        case .other(let name): name
        case .structure(let key): structs.names[key] ?? key
        default: type.word?.rawValue ?? "a value"
        }
    }

    private static func text(_ passed: PassedType) -> String {
        switch passed {
        case .value(let type): type.rawValue
        case .text: "a text"
        case .null: "null"
        case .address(let type): "the address of a variable of type \(type.rawValue)"
        case .memory: "the address of memory"
        case .callback(let name): "the callback '\(name)'"
        case .list: "an array of texts"
        case .structure: "a struct by value"
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
