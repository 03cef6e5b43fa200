import LinuxSystem
import TaskModel

/// The directories below the host's state directory that bundles and launches get.
///
/// A bundle's id is its directory's name: it has letters, digits, `.`, `_` and `-` alone, so that only a
/// leading dot could mean something else to the file system. No store has to be asked for a name, and no two
/// bundles can get one directory.
struct StateDirectories: Sendable {
    /// The host's state directory, absolute.
    let root: String

    /// The bundle's own directory, kept until a user removes it.
    func data(of bundle: BundleIdentifier) -> String { "\(root)/data/\(Self.name(of: bundle))" }

    /// What the bundle's app directory is in.
    func apps(of bundle: BundleIdentifier) -> String { "\(root)/apps/\(Self.name(of: bundle))" }

    /// A launch's own directory, removed after it.
    func temporary(of launch: LaunchID) -> String { "\(root)/tmp/\(launch)" }

    /// Makes a launch's directory, empty.
    ///
    /// - Throws: The call that failed.
    func makeTemporary(of launch: LaunchID) throws(SystemCallError) -> String {
        let path = temporary(of: launch)
        try DirectoryTree.remove(path)
        try DirectoryTree.make(path)
        return path
    }

    /// Removes every temporary directory that an earlier host left.
    ///
    /// - Throws: The call that failed.
    func sweepTemporary() throws(SystemCallError) { try DirectoryTree.remove("\(root)/tmp") }

    /// Removes the app directories of all other bundles.
    ///
    /// - Throws: The call that failed.
    func removeApps(keeping bundles: Set<BundleIdentifier>) throws {
        guard DirectoryTree.isDirectory("\(root)/apps") else { return }
        let kept = Set(bundles.map(Self.name))
        for name in try DirectoryTree.names(in: "\(root)/apps") where !kept.contains(name) {
            try DirectoryTree.remove("\(root)/apps/\(name)")
        }
    }

    /// Gives the data directory of an older host, which is named by a number, its bundle's name.
    ///
    /// - Returns: Whether the number is not needed any more.
    /// - Throws: The call that failed.
    func rename(number: String, for bundle: BundleIdentifier) throws(SystemCallError) -> Bool {
        let (old, new) = ("\(root)/data/\(number)", data(of: bundle))
        guard DirectoryTree.isDirectory(old) else { return true }
        guard !DirectoryTree.isDirectory(new) else { return false }
        return try DirectoryTree.rename(old, to: new)
    }

    private static func name(of bundle: BundleIdentifier) -> String {
        // '@' is in no id, so the name is that of no other bundle.
        bundle.rawValue.hasPrefix(".") ? "@\(bundle.rawValue)" : bundle.rawValue
    }
}
