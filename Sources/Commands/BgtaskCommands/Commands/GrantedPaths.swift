import LinuxSystem

/// The paths of a manifest's grants of one kind, to find those that permit what a launch used.
///
/// It compares texts, because the links and the home directory of the host may be others than those of this
/// process.
struct GrantedPaths {
    /// The paths as the manifest has them, and without a slash at the end.
    private let plain: [String]
    /// Those with `~` or a value of the payload.
    private let patterns: [String]

    init(_ paths: [String]) {
        patterns = paths.filter(Self.isPattern)
        plain = paths.filter { !Self.isPattern($0) }.map(PathWalk.normalized)
    }

    /// The innermost grant without variable parts that contains a path; `nil` if none does.
    func innermost(containing path: String) -> String? {
        plain.filter { PathWalk.isInside(path, $0) }.max { $0.utf8.count < $1.utf8.count }
    }

    /// The grants with variable parts that may permit a path.
    func patterns(matching path: String) -> [String] { patterns.filter { Self.matches(path, $0) } }

    /// Whether a grant has parts that the host fills in: `~` or `${payload.KEY}`.
    static func isPattern(_ grant: String) -> Bool { grant.hasPrefix("~") || grant.contains("${") }

    /// Whether a path can be inside what a pattern stands for: each variable part is one name or several.
    private static func matches(_ path: String, _ pattern: String) -> Bool {
        matches(path.split(separator: "/")[...], pattern.split(separator: "/")[...])
    }

    private static func matches(_ names: ArraySlice<Substring>, _ parts: ArraySlice<Substring>) -> Bool {
        guard let part = parts.first else { return true }
        guard let name = names.first else { return false }
        let (rest, others) = (names.dropFirst(), parts.dropFirst())
        guard isPattern(String(part)) else { return name == part && matches(rest, others) }
        return matches(rest, others) || matches(rest, parts)
    }
}
