import LinuxSystem
public import TaskModel

/// The files that decide what a host runs, and what it believes: a task that may write there can take over
/// the host at its next start.
public struct HostFiles: Equatable, Sendable {
    /// One directory or file of the host.
    private struct Place: Equatable, Sendable {
        /// What it is or contains, such as `the host's manifests`.
        let name: String
        let path: String
        /// A directory inside that is not the host's own.
        let exception: String?
        /// Whether a task that may read there learns something.
        let isSecret: Bool
    }

    private var places: [Place] = []
    /// The files from which the machine starts programs, as they are named, and not where links lead.
    private var startup: [String] = []
    /// The places on the ways to these files where a link is, or can be made, with the targets of those that
    /// were links at the last look.
    private var links: [String: String?] = [:]
    /// Whether the settings of the machine's programs are protected, too.
    private var protectsMachine = false

    /// Makes a list of directories and files; those that are `nil` are not protected.
    ///
    /// - Parameters:
    ///   - manifests: The directories of manifests.
    ///   - plugins: The directory of plugins.
    ///   - conditions: The directory of custom conditions.
    ///   - state: The host's state directory. The data of bundles in it is not protected: a manifest can
    ///     share that of another bundle.
    ///   - configuration: The files and directories of the host's configuration.
    ///   - programs: The programs that the host consists of. Everything in their directories is protected,
    ///     because the host looks for other programs there.
    ///   - controlSocket: The control socket. Who can replace it answers in place of the host.
    ///   - startup: Files from which the machine starts programs outside of any sandbox; see
    ///     ``StartupFiles``. If there are any, no manifest can have directories made where programs of root
    ///     look for their settings.
    public init(
        manifests: [String] = [], plugins: String? = nil, conditions: String? = nil, state: String? = nil,
        configuration: [String] = [], programs: [String] = [], controlSocket: String? = nil,
        startup: [String] = []
    ) {
        for path in manifests { add("the host's manifests", path) }
        if let plugins { add("the host's plugins", plugins, isSecret: false) }
        if let conditions { add("the host's conditions", conditions) }
        if let state { add("the host's state", state, except: "data") }
        for path in configuration { add("the host's configuration", path, isSecret: false) }
        for path in programs {
            add("the host's programs", Self.directory(of: path), isSecret: false)
            add("the host's programs", path, isSecret: false)
        }
        if let controlSocket { add("the host's control socket", controlSocket, isSecret: false) }
        protectsMachine = !startup.isEmpty
        self.startup = startup
        for path in startup { addStartup(path) }
    }

    private mutating func addStartup(_ path: String) {
        add("files that start programs outside of the sandbox", path, isSecret: path.hasSuffix("/.ssh"))
        var entries: [String] = []
        var entry = ""
        for name in path.split(separator: "/") {
            entry += "/\(name)"
            entries.append(entry)
        }
        // A link can lead to a file behind another link.
        entries += ((try? PathWalk(path))?.steps ?? []).filter { $0.kind == .link }.map(\.path)
        for entry in entries where links[entry] == nil {
            links[entry] = .some(PathWalk.linkTarget(at: entry))
        }
    }

    /// These files, with those that links lead to which were made or changed after the last look.
    ///
    /// A user can replace `~/.bashrc` by a link to `~/dotfiles/bashrc` while the host runs. What an earlier
    /// link led to stays protected until the host starts again. The look costs a system call for each name.
    func lookedAtAgain() -> HostFiles {
        let changed = links.filter { PathWalk.linkTarget(at: $0.key) != $0.value }.map(\.key)
        if changed.isEmpty { return self }
        var now = self
        for entry in changed { now.links[entry] = nil }
        for path in startup { now.addStartup(path) }
        return now
    }

    private mutating func add(
        _ name: String, _ path: String, except inner: String? = nil, isSecret: Bool = true
    ) {
        guard let walk = try? PathWalk(path) else { return }
        let real = walk.realPath
        // Who can replace a link decides what the host finds behind it.
        let links = walk.steps.filter { $0.kind == .link }.map(\.path)
        let found =
            [Place(name: name, path: real, exception: inner.map { "\(real)/\($0)" }, isSecret: isSecret)]
            + links.map { Place(name: name, path: $0, exception: nil, isSecret: false) }
        places += found.filter { !places.contains($0) }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The directories of both lists.
    public func adding(_ others: HostFiles) -> HostFiles {
        var both = self
        both.places += others.places.filter { !places.contains($0) }
        both.startup += others.startup.filter { !startup.contains($0) }
        both.links.merge(others.links) { $1 }
        both.protectsMachine = protectsMachine || others.protectsMachine
        return both
    }

    /// Which directory of the host a grant opens, such as `the host's manifests, /etc/bgtask/manifests`.
    ///
    /// - Parameters:
    ///   - path: An absolute path without links.
    ///   - isWrite: Whether the grant permits to write.
    /// - Returns: The first directory that contains the path, or that the path contains; `nil` if there is
    ///   none.
    public func opened(by path: String, isWrite: Bool) -> String? {
        opened(by: path, isWrite: isWrite, MountTable())
    }

    func opened(by path: String, isWrite: Bool, _ mounts: MountTable) -> String? {
        let granted = mounts.locations(of: path)
        let own = places.first { place in
            (isWrite || place.isSecret) && Self.overlaps(place, path, granted, mounts)
        }
        if let own { return "\(own.name), \(own.path)" }
        guard isWrite, protectsMachine, let settings = StartupFiles.settingsDirectory(of: path) else {
            return nil
        }
        return "settings of the machine's programs, \(settings)"
    }

    /// Which directory of the machine a directory would be made in.
    ///
    /// - Parameter path: An absolute path without links.
    /// - Returns: As ``opened(by:isWrite:)``; `nil` if the path exists, or if the directory is no problem.
    func opened(byCreating path: String) -> String? {
        guard protectsMachine, let directory = StartupFiles.systemDirectory(of: path),
            DirectoryTree.isMissing(path)
        else { return nil }
        return
            "a directory that the host would have to make in \(directory), where programs look for settings"
    }

    /// Compares the paths, and then where they lie in their file systems: a bind mount can show a directory
    /// of the host under another path.
    private static func overlaps(
        _ place: Place, _ path: String, _ granted: [MountTable.Location], _ mounts: MountTable
    ) -> Bool {
        if let exception = place.exception {
            if PathWalk.isInside(path, exception) { return false }
            if let inner = mounts.locations(of: exception).first, granted.allSatisfy({ $0.isInside(inner) }),
                !granted.isEmpty
            {
                return false
            }
        }
        if PathWalk.isInside(path, place.path) || PathWalk.isInside(place.path, path) { return true }
        return mounts.locations(of: place.path).contains { own in granted.contains { $0.overlaps(own) } }
    }

    /// The grants of a manifest that open directories of the host; those with values of the payload are
    /// examined at the launch.
    ///
    /// A grant that begins with `~` is examined in the home directory of this user.
    func grants(of sandbox: SandboxDeclaration) -> [HostGrant] {
        let paths =
            sandbox.write.map { ($0.path, true, $0.create) } + sandbox.read.map { ($0, false, false) }
        if paths.isEmpty { return [] }
        let mounts = MountTable()
        return paths.compactMap { path, isWrite, isCreated in
            guard let full = GrantedFiles.examined(path), let real = (try? PathWalk(full))?.realPath,
                let what = opened(by: real, isWrite: isWrite, mounts)
                    ?? (isCreated ? opened(byCreating: real) : nil)
            else { return nil }
            return HostGrant(path: path, isWrite: isWrite, opens: what)
        }
    }

    /// The problem that a manifest with this grant has.
    static func problem(of grant: HostGrant, _ file: String) -> ManifestProblem {
        guard grant.isWrite else {
            return ManifestProblem(
                severity: .warning, file: file,
                finding: "with the read grant '\(grant.path)', tasks may read \(grant.opens)",
                remedy: "Grant only the directories that the tasks need")
        }
        let refusal = grant.refusal
        return ManifestProblem(file: file, finding: refusal.finding, remedy: refusal.remedy)
    }

    /// Refuses a launch whose grants open directories of the host for writing, or would have one made where
    /// programs of root look for their settings.
    ///
    /// - Parameters:
    ///   - grants: The grants with the values of the payload, without links.
    ///   - identifier: The task.
    /// - Throws: ``SubmissionError`` that names the first such grant.
    public func check(_ grants: ResolvedGrants, of identifier: TaskIdentifier) throws(SubmissionError) {
        if grants.files.write.isEmpty { return }
        let mounts = MountTable()
        let now = lookedAtAgain()
        for path in grants.files.write {
            guard
                let what = now.opened(by: path, isWrite: true, mounts)
                    ?? (grants.created.contains(path) ? now.opened(byCreating: path) : nil)
            else { continue }
            let refusal = HostGrant(path: path, isWrite: true, opens: what).refusal
            throw SubmissionError(
                code: .notPermitted, subject: "\(identifier)", finding: refusal.finding,
                remedy: refusal.remedy)
        }
    }
}
