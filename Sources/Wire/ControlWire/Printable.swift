/// Makes text from plugins and clients safe to print.
///
/// A terminal obeys control characters in titles, messages and paths, and some Unicode characters change the
/// order in which text is shown. Both are replaced by visible escapes, and tabs by spaces.
public enum Printable {
    /// Escapes a text so that it fits on one line.
    ///
    /// A line feed becomes `\n`, and a tab becomes a space. The other C0 and C1 control characters, the line
    /// and paragraph separators, the characters that control the direction of text, and U+FEFF become
    /// `\u{…}`.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - maximumLength: The largest number of Unicode scalars to keep; an ellipsis replaces the rest.
    /// - Returns: Text that a terminal prints without any other effect.
    public static func text(_ text: String, maximumLength: Int = 4096) -> String {
        // Most texts are short ASCII, and a table has many of them.
        if text.utf8.count <= maximumLength, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            return text
        }
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == maximumLength {
                result += "…"
                break
            }
            count += 1
            if isSafe(scalar) {
                result.unicodeScalars.append(scalar)
            } else if scalar == "\n" || scalar == "\t" {
                result += scalar == "\n" ? "\\n" : " "
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return result
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0xFEFF: false
        default: true
        }
    }
}
