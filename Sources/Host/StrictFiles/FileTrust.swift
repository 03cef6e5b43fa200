public import LinuxSystem

/// Whether a host that runs as root may believe a file: nobody else may change it, or put another in its place.
///
/// Looked at are the file and every directory and link on the way to it. Each must be root's, and writable by nobody
/// else; a directory with the sticky bit may be, as /tmp is, because there others can't touch what is root's.
public enum FileTrust {
    /// Why a file can't be trusted, and what mends it; `nil` if it can, or if the host is not root.
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
            // A link's bits mean nothing; who may replace it, its directory decides.
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
                "untrusted: others than root can change \(name) and the host runs as root: \(kind) has owner \(step.owner) and mode \(mode)",
                "Run: \(commands.compactMap(\.self).joined(separator: " && "))"
            )
        }
        return nil
    }
}
