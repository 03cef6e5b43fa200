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
        // The transfers belong to a user of their own, and the host believes only complete files in them.
        for path in try Self.entries(of: root) where path != "\(root)/apps" && path != transfers {
            try check(path)
        }
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

    /// Creates the data directory of a bundle if it is missing.
    ///
    /// If the directory of a root host has another owner than it must have, because the bundle had no user or
    /// another one, the directory and its contents change their owner.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - user: The bundle's user, who becomes the owner; `nil` if its tasks run as the host's user.
    /// - Throws: The system call that failed.
    func makeData(of bundle: BundleIdentifier, for user: UInt32?) throws(SystemCallError) {
        if user != nil { try makePassage("\(root)/data") }
        try make(data(of: bundle), for: user)
    }

    /// Creates the directory of the transfers if it is missing, and changes its owner likewise.
    ///
    /// - Parameter user: The user of the program that makes transfers; `nil` if it is the host's.
    /// - Throws: The system call that failed.
    func makeTransfers(for user: UInt32?) throws(SystemCallError) { try make(transfers, for: user) }

    private func make(_ path: String, for user: UInt32?) throws(SystemCallError) {
        if let user {
            try DirectoryTree.make(path, owner: user, group: user)
        } else {
            try DirectoryTree.make(path)
        }
        let wanted = user ?? 0
        guard FileContents.isRoot, let owner = DirectoryTree.owner(of: path), owner != wanted else { return }
        try DirectoryTree.give(path, to: wanted, of: owner...owner)
    }

    /// Creates the temporary directory of a launch, which the host removes after the launch; removes its
    /// contents if it exists.
    ///
    /// - Parameters:
    ///   - launch: The launch.
    ///   - bundle: Its bundle.
    ///   - user: The bundle's user, who becomes the owner; `nil` if its tasks run as the host's user.
    /// - Returns: The path of the directory.
    /// - Throws: The system call that failed.
    func makeTemporary(
        of launch: LaunchID, _ bundle: BundleIdentifier, for user: UInt32?
    ) throws(SystemCallError) -> String {
        let parent = temporaries(of: bundle), path = "\(parent)/\(launch)"
        guard let user else {
            try DirectoryTree.remove(path)
            try DirectoryTree.make(path)
            return path
        }
        try makePassage("\(root)/tmp")
        // A task can't add a name to the parent, so nothing comes in between the removal and the creation.
        try DirectoryTree.make(parent)
        try DirectoryTree.set(parent, owner: 0, group: user, mode: 0o710)
        try DirectoryTree.remove(path)
        try DirectoryTree.make(path, owner: user, group: user)
        return path
    }

    /// Moves the temporary directories of an earlier host out of the way.
    ///
    /// - Returns: The paths of directories that ``DirectoryTree/remove(_:)`` must remove, which can take
    ///   long.
    /// - Throws: The system call that failed.
    func setTemporaryAside() throws(SystemCallError) -> [String] {
        let names = try DirectoryTree.isDirectory(root) ? DirectoryTree.names(in: root) : []
        var aside = names.filter { $0.hasPrefix(Self.asidePrefix) }.map { "\(root)/\($0)" }
        guard names.contains("tmp") else { return aside }
        let unique = try DirectoryTree.makeUnique(prefix: "\(root)/\(Self.asidePrefix)")
        aside.append(unique)
        // `unique` is an empty directory, so the rename replaces it.
        _ = try DirectoryTree.rename("\(root)/tmp", to: unique)
        return aside
    }

    private static let asidePrefix = "tmp.old-"

    // MARK: Users of bundles

    /// Lets the users of bundles search the directories that lead to their own, and closes everything else to
    /// them.
    ///
    /// - Throws: The system call that failed.
    func openForUsers() throws(SystemCallError) {
        let open: Set = ["data", "tmp", "apps", "libraries"]
        for name in try DirectoryTree.names(in: root) where !open.contains(name) {
            try DirectoryTree.close("\(root)/\(name)")
        }
        for name in open.sorted() { try makePassage("\(root)/\(name)") }
        try DirectoryTree.setMode(root, Self.passage)
    }

    /// The permissions of a directory that others may search, but neither list nor change.
    private static let passage: UInt32 = 0o711

    private func makePassage(_ path: String) throws(SystemCallError) {
        if let step = try PathWalk.Step.at(path), step.mode == Self.passage { return }
        try DirectoryTree.make(path)
        try DirectoryTree.setMode(path, Self.passage)
    }

    /// Lets only one user besides root read the app directory of a bundle.
    ///
    /// - Throws: The system call that failed.
    func openApps(of bundle: BundleIdentifier, for user: UInt32) throws(SystemCallError) {
        try DirectoryTree.set(apps(of: bundle), owner: 0, group: user, mode: 0o750)
    }

    /// The data directories of all bundles, also of those that are gone.
    ///
    /// - Throws: The system call that failed.
    func allData() throws(SystemCallError) -> [String] {
        guard DirectoryTree.isDirectory("\(root)/data") else { return [] }
        return try DirectoryTree.names(in: "\(root)/data").map { "\(root)/data/\($0)" }
    }

    /// The owners of the data directories, by the names of these.
    ///
    /// - Throws: The system call that failed.
    func dataOwners() throws(SystemCallError) -> [String: UInt32] {
        guard DirectoryTree.isDirectory("\(root)/data") else { return [:] }
        var owners: [String: UInt32] = [:]
        for name in try DirectoryTree.names(in: "\(root)/data") {
            owners[name] = DirectoryTree.owner(of: "\(root)/data/\(name)")
        }
        return owners
    }

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

    /// The name of a bundle's directories.
    static func name(of bundle: BundleIdentifier) -> String {
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
