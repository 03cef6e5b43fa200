public import LinuxSystem

/// Decides whether a host that runs as root may trust a file: only root may be able to change or replace it.
///
/// The check covers the file and every directory and link on the way to it. Root must own each of them and be
/// the only one who can write it. A directory with the sticky bit, such as /tmp, may be writable by others,
/// because they can't replace root's files there.
public enum FileTrust {
    /// Why a file can't be trusted, and the commands that fix it; `nil` if it can be, or if the host is not
    /// root.
    ///
    /// - Throws: The call that failed on the way to the file.
    public static func problem(with path: String, called name: String) throws(SystemCallError) -> (
        finding: String, remedy: String
    )? {
        guard FileContents.isRoot else { return nil }
        for step in try PathWalk(path).steps {
            let isForeign = step.owner != 0
            let isOpen: Bool
            switch step.kind {
            case .directory: isOpen = step.mode & 0o022 != 0 && step.mode & 0o1000 == 0
            case .file: isOpen = step.mode & 0o022 != 0
            // A link's bits mean nothing; the permissions of its directory decide who may replace it.
            case .link: isOpen = false
            }
            guard isForeign || isOpen else { continue }
            let kind =
                switch step.kind {
                case .directory: "the directory \(step.path)"
                case .link: "the link \(step.path)"
                case .file: step.path
                }
            let digits = String(step.mode, radix: 8)
            let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            let chown = step.kind == .link ? "chown -h root:root" : "chown root:root"
            let commands = [
                isForeign ? "\(chown) \(step.path)" : nil, isOpen ? "chmod go-w \(step.path)" : nil,
            ]
            return (
                "untrusted: users other than root can change \(name), and the host runs as root: \(kind) has owner \(step.owner) and mode \(mode)",
                "Run: \(commands.compactMap(\.self).joined(separator: " && "))"
            )
        }
        return nil
    }
}
