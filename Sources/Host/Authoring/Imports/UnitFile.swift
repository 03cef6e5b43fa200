/// The settings of a unit file of systemd, as the manual systemd.syntax(7) describes them.
struct UnitFile {
    /// A setting: `KEY=VALUE` in a section.
    struct Setting: Hashable {
        let section: String
        let key: String
    }

    private var values: [Setting: [String]] = [:]
    private var order: [Setting] = []

    /// All settings, in the order in which they first appear.
    var settings: [Setting] { order.filter { !(values[$0] ?? []).isEmpty } }

    /// Adds the settings of a file, such as the unit itself or one of its drop-ins.
    mutating func add(_ text: String) {
        var section = ""
        var started = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = line.trimmingBlanks
            if trimmed.hasPrefix("#") || trimmed.hasPrefix(";") { continue }
            if trimmed.hasSuffix("\\") {
                started += trimmed.dropLast() + " "
                continue
            }
            let whole = started + trimmed
            started = ""
            if whole.hasPrefix("["), whole.hasSuffix("]") {
                section = String(whole.dropFirst().dropLast())
            } else if let equals = whole.firstIndex(of: "=") {
                let key = whole[..<equals].trimmingBlanks
                let value = whole[whole.index(after: equals)...].trimmingBlanks
                set(Setting(section: section, key: key), value)
            }
        }
    }

    private mutating func set(_ setting: Setting, _ value: String) {
        if values[setting] == nil { order.append(setting) }
        // An empty value removes the earlier ones.
        if value.isEmpty { values[setting] = [] } else { values[setting, default: []].append(value) }
    }

    /// All values of a setting, in order.
    func all(_ section: String, _ key: String) -> [String] {
        values[Setting(section: section, key: key)] ?? []
    }

    /// The last value of a setting; `nil` if there is none.
    func last(_ section: String, _ key: String) -> String? { all(section, key).last }

    /// Whether a setting is switched on.
    func isOn(_ section: String, _ key: String) -> Bool? {
        last(section, key).map { ["1", "yes", "y", "true", "t", "on"].contains($0.lowercased()) }
    }

    /// A time span such as `1h 30min`, `90` (seconds) or `2weeks`; `nil` for `infinity` and for texts that
    /// are not valid.
    static func span(_ text: String) -> Duration? {
        let units: [(names: Set<String>, milliseconds: Double)] = [
            (["us", "usec"], 0.001), (["ms", "msec"], 1), (["", "s", "sec", "second", "seconds"], 1000),
            (["m", "min", "minute", "minutes"], 60_000), (["h", "hr", "hour", "hours"], 3_600_000),
            (["d", "day", "days"], 86_400_000), (["w", "week", "weeks"], 604_800_000),
            (["M", "month", "months"], 2_629_800_000), (["y", "year", "years"], 31_557_600_000),
        ]
        var rest = text[...]
        var sum = 0.0
        var found = false
        while let next = rest.first {
            if next == " " {
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let name = String(rest.prefix { $0.isASCII && $0.isLetter })
            rest = rest.dropFirst(name.count)
            guard let number = Double(digits), let unit = units.first(where: { $0.names.contains(name) })
            else { return nil }
            sum += number * unit.milliseconds
            found = true
        }
        return found && sum < 3660 * 86_400_000 ? .milliseconds(Int64(sum)) : nil
    }

    /// The words of a command line or of a list of variables, without their quotation marks.
    ///
    /// - Returns: The words; `nil` if a quotation mark is not closed.
    static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word = ""
        var isInWord = false
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.popFirst() {
                word += unescaped(next, &rest)
                isInWord = true
            } else if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                (quote, isInWord) = (character, true)
            } else if character == " " || character == "\t" {
                if isInWord { words.append(word) }
                (word, isInWord) = ("", false)
            } else {
                word.append(character)
                isInWord = true
            }
        }
        if isInWord { words.append(word) }
        return quote == nil ? words : nil
    }

    /// What an escape means, of which the backslash and the first character were read.
    private static func unescaped(_ character: Character, _ rest: inout Substring) -> String {
        switch character {
        case "x":
            // A byte of ASCII; larger ones would be parts of characters.
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16),
                (1..<0x80).contains(byte)
            else { return "\\x" }
            rest = rest.dropFirst(2)
            return String(UnicodeScalar(byte))
        case "n": return "\n"
        case "t": return "\t"
        case "s": return " "
        case "\\", "\"", "'", ";": return String(character)
        default: return "\\" + String(character)
        }
    }
}

extension StringProtocol {
    /// The text without blanks at its ends.
    var trimmingBlanks: String {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return String(text)
    }
}
