import StrictFiles
import TaskModel

/// Reads conditions for values: those of `expect`, and those of `while` in a loop.
struct ExpectationReader {
    let problems: ProblemList

    /// Reads a condition; returns `nil` after a problem has been reported.
    ///
    /// - Parameters:
    ///   - node: A value, a list of values, `{not: VALUE}` or `{atLeast: NUMBER}`.
    ///   - type: The type of the value that is compared.
    ///   - what: The key, for messages.
    /// - Returns: The condition.
    func expectation(_ node: YAMLNode, of type: CallType, _ what: String) -> CallExpectation? {
        // A string can only be compared with null, like a pointer.
        let literalType: CallType = type == .string ? .pointer : type
        let literals = LiteralReader(payload: [:], problems: problems)
        switch node.value {
        case .scalar:
            return literals.literal(node, of: literalType).map { .anyOf([$0]) }
        case .sequence(let items):
            if items.isEmpty { problems.error(node.place, "'\(what)' is an empty list", "Add a value") }
            problems.checkCount(
                items.count, of: "values in '\(what)'", atMost: StepReader.maximumListed, node.place)
            let read = items.map { literals.literal($0, of: literalType) }
            return read.contains(nil) ? nil : .anyOf(read.compactMap(\.self))
        case .mapping:
            guard let fields = Fields(node, what, keys: ["not", "atLeast"], problems) else { return nil }
            if let atLeast = fields["atLeast"] {
                if type.isPointer {
                    problems.error(
                        atLeast.place, "'atLeast' can't be used for type \(type.rawValue)", "Use {not: null}")
                }
                return literals.literal(atLeast, of: literalType).map { .atLeast($0) }
            }
            guard let not = fields["not"] else {
                problems.error(
                    node.place, "'\(what)' is empty", "Write a value, a list, {not: null} or {atLeast: 0}")
                return nil
            }
            return literals.literal(not, of: literalType).map { .not($0) }
        }
    }
}
