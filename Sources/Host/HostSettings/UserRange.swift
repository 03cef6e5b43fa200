/// Parses and formats the numbers of the users of bundles: `2100000000-2100065535`, or `none`.
enum UserRange {
    /// Why a text is no range of users.
    struct Problem: Error {
        let finding: String
        let remedy: String
    }

    /// The numbers that can belong to bundles.
    ///
    /// Below 1000 are root and the accounts of the system, 65534 is the account without rights, and with
    /// 65535 and 4294967295 programs mean "no user".
    private static let possible: [ClosedRange<UInt32>] = [1000...65_533, 65_536...4_294_967_294]

    /// Reads a range; `nil` for `none`.
    static func parse(_ text: String) throws(Problem) -> ClosedRange<UInt32>? {
        if text == "none" { return nil }
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt32($0) }
        guard numbers.count == 2, let first = numbers[0], let last = numbers[1], first <= last else {
            throw Problem(
                finding: "not a range of users",
                remedy: "Write the first and the last number, such as 2100000000-2100065535, or 'none'")
        }
        guard possible.contains(where: { $0.contains(first) && $0.contains(last) }) else {
            throw Problem(
                finding:
                    "the range contains numbers that are not for bundles: those below 1000, 65534, 65535 or "
                    + "4294967295",
                remedy:
                    "Choose numbers from 1000 to 65533, or from 65536 to 4294967294, that no user of this machine has"
            )
        }
        return first...last
    }

    /// Formats a range as ``parse(_:)`` reads it.
    static func text(of range: ClosedRange<UInt32>?) -> String {
        range.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "none"
    }
}
