/// One of the five fields of a crontab line that say when it runs.
struct CronField {
    /// The smallest and the largest number of the field.
    let range: ClosedRange<Int>
    /// The names that the field knows, such as `jan`, and the number of the first one.
    var names: [String] = []
    var firstName = 0

    static let minute = CronField(range: 0...59)
    static let hour = CronField(range: 0...23)
    static let day = CronField(range: 1...31)
    static let month = CronField(
        range: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        firstName: 1)
    /// Cron counts weekdays from Sunday, and knows 7 as another Sunday.
    static let weekday = CronField(range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// The numbers that a field selects: `*`, `5`, `1-5`, `*/15`, `0-30/10`, `mon,wed`.
    ///
    /// - Returns: The numbers, ascending; `nil` if the text is not valid.
    func numbers(_ text: some StringProtocol) -> [Int]? {
        var found: Set<Int> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let span = parts.first.flatMap({ span($0) }) else { return nil }
            var step = 1
            var end = span.upperBound
            if parts.count == 2 {
                guard let number = Int(parts[1]), number > 0 else { return nil }
                step = number
                // Like most versions of cron: 5/10 is 5-59/10.
                if span.count == 1, !parts[0].contains("-") { end = range.upperBound }
            }
            found.formUnion(stride(from: span.lowerBound, through: end, by: step))
        }
        return found.sorted()
    }

    private func span(_ text: some StringProtocol) -> ClosedRange<Int>? {
        // Of a weekday, 0 to 6 are all.
        if text == "*" { return range.lowerBound...(names.count == 7 ? 6 : range.upperBound) }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = ends.first.flatMap({ number($0) }) else { return nil }
        guard ends.count > 1 else { return first...first }
        guard ends.count == 2, let last = number(ends[1]), first <= last else { return nil }
        return first...last
    }

    private func number(_ text: some StringProtocol) -> Int? {
        if let index = names.firstIndex(of: text.lowercased()) { return index + firstName }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else { return nil }
        return number
    }
}
