import LinuxSystem
import TaskModel

/// The directories of bundles and launches in the host's state directory.
///
/// A bundle identifier contains only letters, digits, `.`, `_` and `-`, so it can be a directory's name
/// unless it begins with a dot. Two bundles never have the same directory.
struct StateDirectories: Sendable {
    /// The absolute path of the host's state directory.
    let root: String

    /// The data directory of a bundle; the host never removes it.
    func data(of bundle: BundleIdentifier) -> String { "\(root)/data/\(Self.name(of: bundle))" }

    /// The directory that contains the bundle's app directory.
    func apps(of bundle: BundleIdentifier) -> String { "\(root)/apps/\(Self.name(of: bundle))" }

    /// The temporary directory of a launch; the host removes it after the launch.
    func temporary(of launch: LaunchID) -> String { "\(root)/tmp/\(launch)" }

    /// Creates the temporary directory of a launch; removes its contents if it exists.
    ///
    /// - Throws: The system call that failed.
    func makeTemporary(of launch: LaunchID) throws(SystemCallError) -> String {
        let path = temporary(of: launch)
        try DirectoryTree.remove(path)
        try DirectoryTree.make(path)
        return path
    }

    /// Removes all temporary directories that an earlier host left.
    ///
    /// - Throws: The system call that failed.
    func sweepTemporary() throws(SystemCallError) { try DirectoryTree.remove("\(root)/tmp") }

    /// Removes the app directories of all bundles except these.
    ///
    /// - Throws: The system call that failed.
    func removeApps(keeping bundles: Set<BundleIdentifier>) throws {
        guard DirectoryTree.isDirectory("\(root)/apps") else { return }
        let kept = Set(bundles.map(Self.name))
        for name in try DirectoryTree.names(in: "\(root)/apps") where !kept.contains(name) {
            try DirectoryTree.remove("\(root)/apps/\(name)")
        }
    }

    /// Renames a data directory that an older version of the host named by a number.
    ///
    /// - Returns: True if the old directory is gone; false if it was kept, because the bundle already has a
    ///   new directory.
    /// - Throws: The system call that failed.
    func rename(number: String, for bundle: BundleIdentifier) throws(SystemCallError) -> Bool {
        let (old, new) = ("\(root)/data/\(number)", data(of: bundle))
        guard DirectoryTree.isDirectory(old) else { return true }
        guard !DirectoryTree.isDirectory(new) else { return false }
        return try DirectoryTree.rename(old, to: new)
    }

    private static func name(of bundle: BundleIdentifier) -> String {
        // No bundle identifier contains '@', so no other bundle has this name.
        bundle.rawValue.hasPrefix(".") ? "@\(bundle.rawValue)" : bundle.rawValue
    }
}
