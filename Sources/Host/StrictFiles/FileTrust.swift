public import LinuxSystem

/// Decides whether a host that runs as root may trust a file: only root may be able to change or replace it.
///
/// The check covers the file and every directory and link on the way to it. Root must own each of them and be
/// the only one who can write it. A directory with the sticky bit, such as /tmp, may be writable by others,
/// because they can't replace root's files there.
///
/// A value remembers the directories that it has found safe, so that a check of many files in one directory
/// examines the path to it once. Use a value for only one pass over the files, because directories can
/// change.
public struct FileTrust {
    /// The reason why a file can't be trusted, and the commands that fix it.
    public typealias Problem = (finding: String, remedy: String)

    /// Directories that only root can change, by their paths as given.
    private var trusted: Set<String> = []

    /// Creates a check that has examined no directories yet.
    public init() {}

    /// Checks one file and everything on its path.
    ///
    /// - Returns: The problem; `nil` if the file can be trusted, or if the host is not root.
    /// - Throws: The system call's error if the path can't be followed.
    public static func problem(with path: String, called name: String) throws(SystemCallError) -> Problem? {
        var trust = Self()
        return try trust.problem(with: path, called: name)
    }

    /// Checks one file, and everything on its path unless its directory is already known to be safe.
    ///
    /// - Returns: The problem; `nil` if the file can be trusted, or if the host is not root.
    /// - Throws: The system call's error if the path can't be followed.
    public mutating func problem(with path: String, called name: String) throws(SystemCallError) -> Problem? {
        guard FileContents.isRoot else { return nil }
        let directory = Self.directory(of: path)
        // For a link, the path to its target must be checked, too.
        if trusted.contains(directory), let step = try PathWalk.Step.at(path), step.kind != .link {
            return Self.problem(with: step, called: name)
        }
        for step in try PathWalk(path).steps {
            if let problem = Self.problem(with: step, called: name) { return problem }
        }
        trusted.insert(directory)
        return nil
    }

    /// Checks a directory in which a file with any name has an effect.
    ///
    /// Only root may create files there, so a sticky bit does not help. If the directory does not exist, the
    /// same holds for the nearest one that does.
    ///
    /// - Returns: The problem; `nil` if the directory can be trusted, or if the host is not root.
    /// - Throws: The system call's error if the path can't be followed.
    public mutating func problem(
        withNamesIn directory: String, called name: String
    ) throws(SystemCallError) -> Problem? {
        if let problem = try problem(with: "\(directory)/.", called: name) { return problem }
        guard FileContents.isRoot,
            let last = try PathWalk(directory).steps.last(where: { $0.kind == .directory }),
            last.mode & 0o022 != 0
        else { return nil }
        return (
            "untrusted: users other than root can add to \(name), and the host runs as root: they can create files "
                + "in the directory \(last.path)",
            "Link what has \(directory) in its run path again, without that directory"
        )
    }

    /// Whether only root can change the directory of a file; always true if the host is not root.
    public mutating func trustsDirectory(of path: String) -> Bool {
        let directory = Self.directory(of: path)
        if !FileContents.isRoot || trusted.contains(directory) { return true }
        guard let walk = try? PathWalk(directory),
            walk.steps.allSatisfy({ Self.problem(with: $0, called: "") == nil })
        else { return false }
        trusted.insert(directory)
        return true
    }

    private static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    }

    private static func problem(with step: PathWalk.Step, called name: String) -> Problem? {
        let isForeign = step.owner != 0
        let isOpen: Bool
        switch step.kind {
        case .directory: isOpen = step.mode & 0o022 != 0 && step.mode & 0o1000 == 0
        case .file: isOpen = step.mode & 0o022 != 0
        // The mode of a link has no effect; the permissions of its directory decide who can replace it.
        case .link: isOpen = false
        }
        guard isForeign || isOpen else { return nil }
        let kind =
            switch step.kind {
            case .directory: "the directory \(step.path)"
            case .link: "the link \(step.path)"
            case .file: step.path
            }
        let digits = String(step.mode, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let chown = step.kind == .link ? "chown -h root:root" : "chown root:root"
        if step.path.hasPrefix("/dev/") {
            return (
                "untrusted: \(name): \(step.path) is no file of root",
                "Name a file instead of a device"
            )
        }
        let commands = [
            isForeign ? "\(chown) \(step.path)" : nil, isOpen ? "chmod go-w \(step.path)" : nil,
        ]
        return (
            "untrusted: users other than root can change \(name), and the host runs as root: \(kind) has owner \(step.owner) and mode \(mode)",
            "Run: \(commands.compactMap(\.self).joined(separator: " && "))"
        )
    }
}
