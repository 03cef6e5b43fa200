/// The reason why a text is not a valid duration or size.
public struct QuantityError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, in words.
    public let finding: String
    /// What to write instead.
    public let remedy: String

    /// The finding and the remedy.
    public var description: String { "\(finding). \(remedy)" }
}

/// Parses and formats durations as people write them in manifests and on the command line.
public enum DurationText {
    private static let units: [(name: String, length: Duration)] = [
        ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)),
        ("d", .seconds(86400)),
    ]

    /// Parses `500ms`, `30s`, `15m`, `1h30m` or `2d`: whole numbers with units, the largest unit first.
    ///
    /// - Throws: ``QuantityError`` for any other text, for a number without a unit, and for more than 3,660
    ///   days.
    public static func parse(_ text: String) throws(QuantityError) -> Duration {
        let remedy = "Write numbers with units, the largest unit first: 500ms, 30s, 15m, 1h30m, 2d"
        let refusal = QuantityError(finding: "not a valid duration: '\(text.prefix(40))'", remedy: remedy)
        var rest = Substring(text)
        var sum = Duration.zero
        var lastUnit = units.count
        guard !rest.isEmpty else { throw refusal }
        while !rest.isEmpty {
            let (number, unit) = try nextTerm(of: &rest, refusal: refusal)
            guard let index = units.firstIndex(where: { $0.name == unit }), index < lastUnit else {
                throw refusal
            }
            lastUnit = index
            sum += units[index].length * number
        }
        guard sum <= .seconds(3660 * 86400) else {
            throw QuantityError(
                finding: "the duration '\(text.prefix(40))' is too long", remedy: "Write at most 3660d")
        }
        return sum
    }

    /// Formats a duration so that ``parse(_:)`` can read it: `1h30m`, `500ms`, `0s`.
    ///
    /// Anything below a millisecond is omitted.
    public static func format(_ duration: Duration) -> String {
        var rest = duration.wholeMilliseconds
        guard rest > 0 else { return "0s" }
        var text = ""
        for (name, length) in units.reversed() where rest >= length.wholeMilliseconds {
            text += "\(rest / length.wholeMilliseconds)\(name)"
            rest %= length.wholeMilliseconds
        }
        return text
    }

    private static func nextTerm(
        of rest: inout Substring, refusal: QuantityError
    ) throws(QuantityError) -> (Int, Substring) {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest.dropFirst(digits.count)
        let unit = rest.prefix { ("a"..."z").contains($0) }
        rest = rest.dropFirst(unit.count)
        // Twelve digits of days still fit into the seconds of a Duration.
        guard digits.count <= 12, let number = Int(digits) else { throw refusal }
        return (number, unit)
    }
}

/// Parses sizes as people write them in manifests and on the command line.
public enum ByteCountText {
    private static let units: [String: Int64] = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]

    /// Parses `256MiB`, `64KiB`, `2GiB` or `512B`; one space before the unit is allowed.
    ///
    /// - Throws: ``QuantityError`` for any other text. `MB` is refused because it is ambiguous: 10^6 or 2^20
    ///   bytes.
    public static func parse(_ text: String) throws(QuantityError) -> ByteCount {
        let digits = text.prefix { ("0"..."9").contains($0) }
        var unit = text.dropFirst(digits.count)
        if unit.first == " " { unit = unit.dropFirst() }
        guard digits.count <= 15, let number = Int64(digits), let factor = units[String(unit)],
            case let (product, overflow) = number.multipliedReportingOverflow(by: factor), !overflow
        else {
            throw QuantityError(
                finding: "not a valid size: '\(text.prefix(40))'",
                remedy: advice(digits: digits, unit: unit))
        }
        return ByteCount(bytes: product)
    }

    /// The remedy: `Use 256MiB` for `256MB`, `256M` or `256mb`, and otherwise the valid syntax.
    private static func advice(digits: Substring, unit: Substring) -> String {
        let meant = ["k": "KiB", "m": "MiB", "g": "GiB"][unit.lowercased().prefix(1)]
        if let meant, !digits.isEmpty, ["", "b", "ib"].contains(unit.lowercased().dropFirst()) {
            return "Use \(digits)\(meant)"
        }
        return "Write a number with a unit: 512B, 64KiB, 256MiB, 2GiB"
    }
}
