import LinuxSystem
import StrictFiles

/// Reads the `progress:` of a command: what finds the progress in its output.
struct ProgressPattern {
    /// The greatest length of a pattern in bytes; our choice.
    ///
    /// The C library compiles patterns by recursion,
    /// so a long one could take the host's stack.
    static let maximumSize = 256

    let problems: ProblemList

    /// Reads the value; returns `nil` if it can't be used, after a problem has been reported.
    func pattern(_ node: YAMLNode) -> String? {
        guard let fields = Fields(node, "progress", keys: ["match"], problems) else { return nil }
        guard let match = fields["match"] else {
            problems.error(node.place, "progress has no 'match'", Self.example)
            return nil
        }
        guard let text = match.text("match", problems) else { return nil }
        let pattern = Self.withDigits(text)
        guard pattern.utf8.count <= Self.maximumSize else {
            problems.error(
                match.place, "match has \(pattern.utf8.count) bytes; the limit is \(Self.maximumSize)",
                Self.example)
            return nil
        }
        guard !Self.repeatsByNumber(pattern) else {
            problems.error(
                match.place, "match has a repetition by number, such as '{3}', or a reference to a group",
                "Write *, + or ? instead, because numbers can take any amount of memory. " + Self.example)
            return nil
        }
        do {
            let groups = try ExtendedExpression.groups(of: pattern)
            guard (1...2).contains(groups) else {
                problems.error(
                    match.place, "match has \(groups) groups in parentheses; it needs one or two",
                    "Put the percentage into a group, or what is done and the total into two. "
                        + Self.example)
                return nil
            }
            return pattern
        } catch {
            problems.error(
                match.place, "not a regular expression: '\(text.shortened)' (\(error))",
                "Write an extended regular expression, as 'grep -E' takes it. " + Self.example)
            return nil
        }
    }

    private static let example =
        #"For example, progress: {match: '(\d+)%'}, or progress: {match: '(\d+) of (\d+)'}"#

    /// Whether a pattern has what can make it expensive: `{3}`, which the C library writes out, or `\1`.
    private static func repeatsByNumber(_ pattern: String) -> Bool {
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                if character.isNumber { return true }
                isEscaped = false
            } else if character == "{" {
                return true
            } else {
                isEscaped = character == "\\"
            }
        }
        return false
    }

    /// Replaces `\d`, which extended regular expressions do not have, with the digits.
    static func withDigits(_ text: String) -> String {
        var (pattern, isInList, isEscaped) = ("", false, false)
        for character in text {
            if isEscaped {
                isEscaped = false
                switch (character, isInList) {
                case ("d", false): pattern += "[0-9]"
                case ("d", true): pattern += "0-9"
                default: pattern += "\\" + String(character)
                }
                continue
            }
            switch character {
            case "\\": isEscaped = true
            case "[" where !isInList: (isInList, pattern) = (true, pattern + "[")
            case "]" where isInList && !pattern.hasSuffix("[") && !pattern.hasSuffix("[^"):
                (isInList, pattern) = (false, pattern + "]")
            default: pattern.append(character)
            }
        }
        return isEscaped ? pattern + "\\" : pattern
    }
}
