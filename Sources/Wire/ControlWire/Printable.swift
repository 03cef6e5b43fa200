/// Makes foreign text safe to show.
///
/// Titles, messages and paths come from plugins and clients. A terminal obeys control characters in them, and
/// some Unicode characters turn the order of what is shown; both become visible instead.
public enum Printable {
    /// The text on one line: C0 and C1 controls, line and paragraph separators and bidirectional controls are
    /// escaped.
    ///
    /// - Parameters:
    ///   - text: Anything.
    ///   - maximumLength: More scalars than this are cut off, with an ellipsis.
    /// - Returns: Text that moves nothing but the cursor, to the right.
    public static func text(_ text: String, maximumLength: Int = 4096) -> String {
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
