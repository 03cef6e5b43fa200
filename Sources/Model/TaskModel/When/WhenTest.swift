/// One comparison of a fact with a constant: `battery >= 40`.
public struct WhenTest: Hashable, Sendable {
    /// A constant as the expression contains it.
    public enum Literal: Hashable, Sendable {
        /// True or false.
        case boolean(Bool)
        /// A number, in millionths.
        case number(millionths: Int64)
        /// A size.
        case size(ByteCount)
        /// A word.
        case word(String)
        /// A text, which does not contain both kinds of quotation marks.
        case text(String)

        /// The constant as it is written in an expression.
        var text: String {
            switch self {
            case .boolean(let flag): return "\(flag)"
            case .number(let millionths):
                let (whole, rest) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
                let sign = millionths < 0 ? "-" : ""
                if rest == 0 { return "\(sign)\(whole)" }
                var digits = String(String(1_000_000 + rest).dropFirst())
                while digits.hasSuffix("0") { digits.removeLast() }
                return "\(sign)\(whole).\(digits)"
            case .size(let size): return size.description.filter { $0 != " " }
            case .word(let word): return word
            case .text(let text):
                let mark = text.utf8.contains(UInt8(ascii: "\"")) ? "'" : "\""
                return mark + text + mark
            }
        }

        /// The value for comparisons.
        var value: WhenValue {
            switch self {
            case .boolean(let flag): .boolean(flag)
            case .number(let millionths): .number(Double(millionths) / 1_000_000)
            case .size(let size): .number(Double(size.bytes))
            case .word(let word), .text(let word): .text(word)
            }
        }
    }

    /// The fact.
    public let fact: WhenFact
    /// The comparison.
    public let comparison: WhenComparison
    /// The constant.
    public let literal: Literal

    /// Makes a test from parts that fit together.
    public init(_ fact: WhenFact, _ comparison: WhenComparison, _ literal: Literal) {
        self.fact = fact
        self.comparison = comparison
        self.literal = literal
    }

    /// The test in the form of the language: `battery >= 40`, or only `charging`.
    public var text: String {
        if comparison == .equal, literal == .boolean(true) { return fact.name }
        return "\(fact.name) \(comparison.rawValue) \(literal.text)"
    }

    /// Whether the test is true of a value; `nil` if the value is unknown or has another type.
    public func holds(_ value: WhenValue?) -> Bool? {
        switch (value, literal.value) {
        case (.boolean(let left), .boolean(let right)):
            return comparison.needsOrder ? nil : (left == right) == (comparison == .equal)
        case (.number(let left), .number(let right)): return comparison.holds(left, right)
        case (.text(let left), .text(let right)):
            guard comparison.needsOrder else { return (left == right) == (comparison == .equal) }
            guard case .word(let words, isOrdered: true) = fact.type,
                let first = words.firstIndex(of: left), let second = words.firstIndex(of: right)
            else { return nil }
            return comparison.holds(first, second)
        default: return nil
        }
    }

    /// The present value for people: `battery is 15 %`.
    public func observation(_ value: WhenValue?) -> String {
        "\(fact.name) is \(Self.text(value, fact.type))"
    }

    private static func text(_ value: WhenValue?, _ type: WhenType) -> String {
        switch value {
        case nil: return "unknown"
        case .boolean(let flag): return "\(flag)"
        case .text(let text): return type == .text ? "\"\(text)\"" : text
        case .number(let number):
            guard number.isFinite, number.magnitude < 1e15 else { return "\(number)" }
            let plain = number == number.rounded() ? "\(Int64(number))" : "\(number)"
            return switch type {
            case .percent: plain + " %"
            case .size: ByteCount(bytes: Int64(number)).description
            default: plain
            }
        }
    }
}
