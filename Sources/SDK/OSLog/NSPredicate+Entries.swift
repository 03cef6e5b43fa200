import BackgroundTasks
public import Foundation
import os

extension NSPredicate {
    /// Makes a predicate for ``OSLogStore/getEntries(with:at:matching:)``, because Foundation on Linux has no
    /// predicates from text.
    ///
    /// Comparisons of `subsystem`, `category`, `composedMessage`, `process`, `date` and `logType` with `%@`
    /// or a quoted text are supported, joined by `AND` or `OR`, which may not be mixed. The operators are
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`, `CONTAINS`, `BEGINSWITH` and `ENDSWITH`, the last three also with
    /// `[c]`. Another text ends the process with Apple's message.
    ///
    /// - Parameters:
    ///   - format: The text.
    ///   - arguments: The values for `%@`, in order.
    public convenience init(format: String, _ arguments: Any...) {
        let test = EntryPredicate(format, arguments)
        guard let test else {
            misuse(
                "NSInvalidArgumentException",
                "Unable to parse the format string \"\(format)\". On Linux, NSPredicate(format:) knows only "
                    + "comparisons of log entries joined by AND or OR; use NSPredicate(block:)")
        }
        self.init(block: { object, _ in (object as? OSLogEntryLog).map(test.matches) ?? false })
    }
}

/// A predicate over entries of the log, from a text such as `subsystem == %@ AND category != "ui"`.
struct EntryPredicate {
    private enum Key: String { case subsystem, category, composedMessage, process, sender, date, logType }
    private enum Operator: String {
        case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual =
            ">="
        case contains = "CONTAINS", beginsWith = "BEGINSWITH", endsWith = "ENDSWITH"
    }
    private enum Value { case text(String), date(Date) }
    private struct Comparison {
        var key: Key
        var test: Operator
        var ignoresCase: Bool
        var value: Value
    }

    private var comparisons: [Comparison] = []
    private var isAnd = true

    /// Reads a text; `nil` if it is not one of those that are supported.
    init?(_ format: String, _ arguments: [Any]) {
        var words = Self.words(format)[...], values = arguments[...], joint: String?
        while true {
            guard let key = words.popFirst().flatMap(Key.init), var word = words.popFirst() else {
                return nil
            }
            word = word == "=" ? "==" : word.uppercased()
            let ignoresCase = word.hasSuffix("[C]") || word.hasSuffix("[CD]")
            if let options = word.firstIndex(of: "[") { word = String(word[..<options]) }
            guard let test = Operator(rawValue: word), let last = words.popFirst(),
                let value = Self.value(last, &values)
            else { return nil }
            // Dates have an order, and texts have parts.
            switch (key == .date, value, test) {
            case (true, .date, .contains), (true, .date, .beginsWith), (true, .date, .endsWith): return nil
            case (true, .date, _): break
            case (false, .text, .less), (false, .text, .lessOrEqual), (false, .text, .greater),
                (false, .text, .greaterOrEqual):
                return nil
            case (false, .text, _): break
            default: return nil
            }
            comparisons.append(Comparison(key: key, test: test, ignoresCase: ignoresCase, value: value))
            guard var next = words.popFirst() else { break }
            next = ["&&": "AND", "||": "OR"][next] ?? next.uppercased()
            guard next == "AND" || next == "OR", joint == nil || joint == next else { return nil }
            joint = next
        }
        guard values.isEmpty else { return nil }
        isAnd = joint != "OR"
    }

    func matches(_ entry: OSLogEntryLog) -> Bool {
        isAnd
            ? comparisons.allSatisfy { Self.holds($0, entry) }
            : comparisons.contains { Self.holds($0, entry) }
    }

    private static func holds(_ comparison: Comparison, _ entry: OSLogEntryLog) -> Bool {
        switch comparison.value {
        case .date(let date):
            return switch comparison.test {
            case .less: entry.date < date
            case .lessOrEqual: entry.date <= date
            case .greater: entry.date > date
            case .greaterOrEqual: entry.date >= date
            case .notEqual: entry.date != date
            default: entry.date == date
            }
        case .text(let value):
            var (found, value) = (text(comparison.key, entry), value)
            if comparison.ignoresCase { (found, value) = (found.lowercased(), value.lowercased()) }
            return switch comparison.test {
            case .notEqual: found != value
            case .contains: found.contains(value)
            case .beginsWith: found.hasPrefix(value)
            case .endsWith: found.hasSuffix(value)
            default: found == value
            }
        }
    }

    private static func text(_ key: Key, _ entry: OSLogEntryLog) -> String {
        switch key {
        case .subsystem: entry.subsystem
        case .category: entry.category
        case .composedMessage: entry.composedMessage
        case .process: entry.process
        case .sender: entry.sender
        case .logType: entry.level == .notice ? "default" : "\(entry.level)"
        case .date: ""
        }
    }

    private static func value(_ word: String, _ values: inout ArraySlice<Any>) -> Value? {
        if word == "%@" {
            switch values.popFirst() {
            case let date as Date: return .date(date)
            case let text as String: return .text(text)
            default: return nil
            }
        }
        guard word.count >= 2, let quote = word.first, "\"'".contains(quote), word.last == quote else {
            return nil
        }
        return .text(String(word.dropFirst().dropLast()))
    }

    /// The words of a text; a quoted text is one word with its quotes.
    private static func words(_ format: String) -> [String] {
        var words: [String] = [], word = "", quote: Character?
        for character in format {
            if let open = quote {
                word.append(character)
                if character == open { quote = nil }
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                if "\"'".contains(character) { quote = character }
                word.append(character)
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
