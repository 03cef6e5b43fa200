import StrictFiles
import TaskModel

/// Reads names of C types.
struct CallTypeReader {
    enum Use {
        /// The type of a result, which may be `void`.
        case results
        /// The type of an argument, which can't be `void`.
        case arguments
    }

    let problems: ProblemList

    /// Reads a type; for unsupported types such as structs, the message says what to use instead.
    func type(_ node: YAMLNode, allowing use: Use) -> CallType? {
        guard case .scalar(let text, _) = node.value, !node.isNull else {
            problems.error(
                node.place, "a type must be a word, found \(node.found)",
                "Write a type such as int, long or pointer")
            return nil
        }
        return type(named: text, at: node.place, allowing: use)
    }

    func type(named text: String, at place: Place, allowing use: Use) -> CallType? {
        if let type = CallType(rawValue: text) {
            guard type != .void || use == .results else {
                problems.error(place, "a value can't have type void", "Use 'pointer' for void *")
                return nil
            }
            return type
        }
        if text.contains("*") {
            problems.error(
                place, "not a valid type: '\(text.shortened)'", "Use 'pointer', or 'string' for text")
        } else if text.hasPrefix("struct") || text.hasPrefix("union") {
            problems.error(
                place, "not a valid type: '\(text.shortened)'",
                "Declare a struct in 'structs', and write {struct: NAME}; unions need a plugin")
        } else {
            problems.error(
                place, "the type '\(text.shortened)' is unknown",
                Nearest.advice(for: text, in: CallType.allCases.map(\.rawValue)))
        }
        return nil
    }
}

/// Reads literals, such as arguments and expected results.
struct LiteralReader {
    let payload: [String: PayloadType]
    let problems: ProblemList

    /// Reads a literal of a type; it must be in the type's range, or name a payload key of a suitable type.
    func literal(_ node: YAMLNode, of type: CallType) -> CallLiteral? {
        if node.isNull {
            if type.isPointer { return .null }
            problems.error(node.place, "type \(type.rawValue) can't be null", "Only pointer and string can")
            return nil
        }
        guard case .scalar(let text, let isPlain) = node.value else {
            problems.error(
                node.place, "a value of type \(type.rawValue) must be a scalar, found \(node.found)", nil)
            return nil
        }
        if type == .string { return string(node) }
        if PayloadText.isTemplate(text) { return template(text, of: type, at: node.place) }
        guard isPlain, let literal = Self.number(text, of: type) else {
            problems.error(node.place, "not a valid \(type.rawValue): \(node.found)", Self.rule(of: type))
            return nil
        }
        return literal
    }

    /// Parses a number, or for `bool` also `true` and `false`; returns `nil` if it is not valid for the type.
    static func number(_ text: String, of type: CallType) -> CallLiteral? {
        if type.isFloating { return Double(text).map { .floating($0) } }
        guard let format = type.integerFormat else { return nil }
        if type == .bool {
            if text == "true" || text == "1" { return .integer(1) }
            return text == "false" || text == "0" ? .integer(0) : nil
        }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : Substring(text)
        let isHexadecimal = digits.hasPrefix("0x")
        guard
            let magnitude = UInt64(
                isHexadecimal ? digits.dropFirst(2) : digits, radix: isHexadecimal ? 16 : 10),
            digits.utf8.first != UInt8(ascii: "+")
        else { return nil }
        if isNegative {
            guard format.isSigned, magnitude <= UInt64(1) << (format.bits - 1) else { return nil }
            return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        let highest = UInt64.max >> UInt64(64 - format.bits + (format.isSigned ? 1 : 0))
        return magnitude <= highest ? .integer(Int64(bitPattern: magnitude)) : nil
    }

    private func string(_ node: YAMLNode) -> CallLiteral? {
        guard let text = node.text("a string", problems) else { return nil }
        if PayloadText.isTemplate(text) {
            PayloadText.check(
                text, in: payload, allowing: Set(PayloadType.allCases), at: node.place, problems)
        }
        return .text(text)
    }

    private func template(_ text: String, of type: CallType, at place: Place) -> CallLiteral? {
        guard !type.isPointer else {
            problems.error(place, "a payload can't supply a pointer", "Use {string: ...}")
            return nil
        }
        guard let parts = PayloadText.parts(of: text), parts.count == 1, case .key = parts[0] else {
            problems.error(
                place, "not a valid \(type.rawValue): '\(text.shortened)'",
                "Write ${payload.KEY} and nothing else")
            return nil
        }
        let types: Set<PayloadType> =
            type == .bool ? [.boolean] : type.isFloating ? [.number, .integer] : [.integer]
        PayloadText.check(text, in: payload, allowing: types, at: place, problems)
        return .text(text)
    }

    private static func rule(of type: CallType) -> String? {
        guard let format = type.integerFormat else {
            return type.isPointer ? "Write null, or use a name" : "Write a number"
        }
        if type == .bool { return "Write true or false" }
        return
            "Write \(format.isSigned ? "a signed" : "an unsigned") whole number of \(format.bits) bits; 0x... is allowed"
    }
}
