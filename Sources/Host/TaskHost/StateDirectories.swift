import LinuxSystem
import StrictFiles
import TaskModel

/// The directories of bundles and launches in the host's state directory.
///
/// A bundle identifier contains only letters, digits, `.`, `_` and `-`, so it can be a directory's name
/// unless it begins with a dot. Two bundles never have the same directory.
struct StateDirectories: Sendable {
    /// The absolute path of the host's state directory.
    let root: String

    /// The file whose lock a launcher holds, and whose time is when the launcher lost its host.
    var launcherLock: String { "\(root)/launcher.lock" }

    /// Refuses a runner, a program for transfers or a state directory that users other than root can change,
    /// if the host is root.
    ///
    /// The host executes the runner and copies of libraries in the state directory, and believes its store.
    /// The check covers the path of the directory, its entries and the copies of libraries. The contents of
    /// `data` and `tmp` belong to tasks and are not checked. If others can change an app directory, all app
    /// directories are removed: the host makes them again before the next launches.
    ///
    /// - Returns: Warnings for the log: what was removed, and why.
    /// - Throws: ``UntrustedState``, or the system call that failed.
    func checkTrust(runner: String, transferProgram: String? = nil) throws -> [String] {
        guard FileContents.isRoot else { return [] }
        var trust = FileTrust()
        func check(_ path: String, called name: String = "the state directory") throws {
            guard let problem = try trust.problem(with: path, called: name) else { return }
            throw UntrustedState(path: path, finding: problem.finding, remedy: problem.remedy)
        }
        try check(runner, called: "the program that runs handlers")
        if let transferProgram, !DirectoryTree.isMissing(transferProgram) {
            try check(transferProgram, called: "the program that makes transfers")
        }
        try check(root)
        for path in try Self.entries(of: root) where path != "\(root)/apps" { try check(path) }
        for copy in try Self.entries(of: "\(root)/libraries") {
            try check(copy)
            for path in try Self.entries(of: copy) { try check(path) }
        }
        do {
            try check("\(root)/apps")
            for bundle in try Self.entries(of: "\(root)/apps") {
                try check(bundle)
                for app in try Self.entries(of: bundle) {
                    try check(app)
                    for path in try Self.entries(of: app) { try check(path) }
                }
            }
        } catch {
            try DirectoryTree.remove("\(root)/apps")
            let finding = (error as? UntrustedState).map { "\($0.path): \($0.finding)" } ?? "\(error)"
            return [
                "\(finding). So the host has removed \(root)/apps, and makes it again before the next launches. "
                    + "Find out who could change it"
            ]
        }
        return []
    }

    /// The paths in a directory; none if it is not there, or not a directory.
    private static func entries(of path: String) throws(SystemCallError) -> [String] {
        guard DirectoryTree.isDirectory(path) else { return [] }
        return try DirectoryTree.names(in: path).map { "\(path)/\($0)" }
    }

    /// The directory that contains the directory of each transfer.
    var transfers: String { "\(root)/transfers" }

    /// The data directory of a bundle; the host never removes it.
    func data(of bundle: BundleIdentifier) -> String { "\(root)/data/\(Self.name(of: bundle))" }

    /// The directory that contains the bundle's app directory.
    func apps(of bundle: BundleIdentifier) -> String { "\(root)/apps/\(Self.name(of: bundle))" }

    /// The directory with the temporary directories of all launches of a bundle.
    ///
    /// The templates of the bundle and their tasks may write there, and not in those of other bundles.
    func temporaries(of bundle: BundleIdentifier) -> String { "\(root)/tmp/\(Self.name(of: bundle))" }

    /// Creates the temporary directory of a launch, which the host removes after the launch; removes its
    /// contents if it exists.
    ///
    /// - Throws: The system call that failed.
    func makeTemporary(
        of launch: LaunchID, _ bundle: BundleIdentifier
    ) throws(SystemCallError) -> String {
        let path = "\(temporaries(of: bundle))/\(launch)"
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

/// Users other than root can change what a host that runs as root executes or believes.
struct UntrustedState: Error, CustomStringConvertible {
    /// The file or directory.
    let path: String
    /// What was found.
    let finding: String
    /// The commands that correct it.
    let remedy: String

    var description: String {
        "\(path): \(finding). The host would execute or believe what they write. \(remedy). If you do not trust "
            + "the present contents, remove them: the host makes its state directory again. [untrusted]"
    }
}
