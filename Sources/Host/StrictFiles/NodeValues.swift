public import TaskModel

/// Reads typed values from nodes; each method returns `nil` after it has reported a problem.
extension YAMLNode {
    /// Reads text; a number, `true`, `false` or null without quotes is refused, because YAML gives it another
    /// type.
    public func text(_ what: String, _ problems: ProblemList) -> String? {
        if case .scalar("~", isPlain: true) = value {
            problems.error(place, "\(what) must be text, but '~' alone means null in YAML", "Quote it: '~'")
            return nil
        }
        guard case .scalar(let text, let isPlain) = value, !isNull else {
            problems.error(place, "\(what) must be text, found \(found)", nil)
            return nil
        }
        if isPlain, text == "true" || text == "false" || Double(text) != nil {
            problems.error(place, "\(what) must be text, found \(text.shortened)", "Put it in quotes")
            return nil
        }
        if text.utf8.contains(0) {
            problems.error(place, "\(what) contains a NUL byte", "Remove it")
            return nil
        }
        return text
    }

    /// Reads `true` or `false`.
    public func bool(_ what: String, _ problems: ProblemList) -> Bool? {
        if case .scalar(let text, isPlain: true) = value, text == "true" || text == "false" {
            return text == "true"
        }
        problems.error(place, "\(what) must be true or false, found \(found)", nil)
        return nil
    }

    /// Reads a whole number in a range, in decimal digits.
    public func integer(_ what: String, in range: ClosedRange<Int>, _ problems: ProblemList) -> Int? {
        guard case .scalar(let text, isPlain: true) = value, let number = Int(text) else {
            problems.error(
                place, "\(what) must be a whole number, found \(found)", "Write digits without quotes")
            return nil
        }
        guard range.contains(number) else {
            problems.error(
                place, "\(what) is \(number), outside \(range.lowerBound) to \(range.upperBound)", nil)
            return nil
        }
        return number
    }

    /// Reads a decimal number in a range; `1e3`, `nan` and hexadecimal numbers are refused.
    public func decimal(_ what: String, in range: ClosedRange<Double>, _ problems: ProblemList) -> Double? {
        guard case .scalar(let text, isPlain: true) = value, let number = Double(text),
            text.allSatisfy({ ("0"..."9").contains($0) || $0 == "." || $0 == "-" })
        else {
            problems.error(
                place, "\(what) must be a number, found \(found)",
                "Write digits and a point, without quotes or an exponent, such as 0.5")
            return nil
        }
        guard range.contains(number) else {
            problems.error(
                place, "\(what) is \(text), outside \(range.lowerBound) to \(range.upperBound)", nil)
            return nil
        }
        return number
    }

    /// Reads a duration with its unit, in the format of `DurationText`.
    public func duration(_ what: String, in range: ClosedRange<Duration>, _ problems: ProblemList)
        -> Duration?
    {
        guard case .scalar(let text, _) = value, !isNull else {
            problems.error(
                place, "\(what) must be a duration, found \(found)",
                "Write a number with a unit: 500ms, 30s, 15m, 1h30m")
            return nil
        }
        do {
            let duration = try DurationText.parse(text)
            if range.contains(duration) { return duration }
            let (low, high) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
            problems.error(place, "\(what) is \(text), outside \(low) to \(high)", nil)
        } catch {
            problems.error(place, "\(what): \(error.finding)", error.remedy)
        }
        return nil
    }

    /// Reads a size with its unit, in the format of `ByteCountText`.
    public func size(_ what: String, in range: ClosedRange<ByteCount>, _ problems: ProblemList) -> ByteCount?
    {
        guard case .scalar(let text, _) = value, !isNull else {
            problems.error(
                place, "\(what) must be a size, found \(found)", "Write a number with a unit: 64KiB, 256MiB")
            return nil
        }
        do {
            let size = try ByteCountText.parse(text)
            if range.contains(size) { return size }
            problems.error(
                place, "\(what) is \(text), outside \(range.lowerBound) to \(range.upperBound)", nil)
        } catch {
            problems.error(place, "\(what): \(error.finding)", error.remedy)
        }
        return nil
    }

    /// Reads one of the raw values of an enumeration.
    public func word<Word: RawRepresentable<String> & CaseIterable>(
        _ what: String, as type: Word.Type, _ problems: ProblemList
    ) -> Word? {
        word(what, among: type.allCases.map(\.rawValue), problems).flatMap(type.init(rawValue:))
    }

    /// Reads one of several words.
    public func word(_ what: String, among words: [String], _ problems: ProblemList) -> String? {
        guard case .scalar(let text, _) = value, !isNull else {
            problems.error(
                place, "\(what) must be one of \(words.joined(separator: ", ")), found \(found)", nil)
            return nil
        }
        if words.contains(text) { return text }
        problems.error(place, "\(what) '\(text.shortened)' is unknown", Nearest.advice(for: text, in: words))
        return nil
    }

    /// Reads the items of a list.
    public func items(_ what: String, _ problems: ProblemList) -> [YAMLNode]? {
        if case .sequence(let items) = value { return items }
        problems.error(place, "\(what) must be a list, found \(found)", "Write it in brackets: [a, b]")
        return nil
    }
}
