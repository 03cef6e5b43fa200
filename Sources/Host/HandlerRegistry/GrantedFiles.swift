import LinuxSystem
import TaskModel

/// Compares the grants of a manifest with the files of this machine.
enum GrantedFiles {
    /// Warnings of grants that have no effect, or less than their author may expect.
    ///
    /// A grant with a value of the payload is not examined. One that begins with `~` is examined in the home
    /// directory of this user, who may not be the host's.
    static func problems(of sandbox: SandboxDeclaration, _ file: String) -> [ManifestProblem] {
        let reads = sandbox.read.compactMap { path in problem(of: path, isWrite: false, file) }
        let writes = sandbox.write.filter { !$0.create }.compactMap { grant in
            problem(of: grant.path, isWrite: true, file)
        }
        return reads + writes
    }

    private static func problem(of path: String, isWrite: Bool, _ file: String) -> ManifestProblem? {
        guard let full = examined(path), let walk = try? PathWalk(full) else { return nil }
        let word = isWrite ? "write" : "read"
        let end: PathWalk.Step?
        // A directory that this user may not search can't be examined.
        do { end = try PathWalk.Step.at(walk.realPath) } catch { return nil }
        guard let end else {
            return ManifestProblem(
                severity: .warning, file: file,
                finding: "the \(word) grant '\(path)' has no effect: this machine has no such path",
                remedy: isWrite
                    ? "Create it, or let the host create it: write: [{path: \(path), create: true}]"
                    : "Create it before the launch, or correct the path")
        }
        guard isWrite, end.kind != .directory else { return nil }
        return ManifestProblem(
            severity: .warning, file: file,
            finding:
                "the write grant '\(path)' is a file: a task can change it, but not replace or remove it",
            remedy: "Grant the directory that contains it")
    }

    /// Warnings of `write` grants of directories that belong to others, where the bundle's own user may not
    /// write.
    ///
    /// A directory to which its group may write is not reported: that may be an access control list.
    static func problems(
        of manifest: Manifest, _ users: ClosedRange<UInt32>, _ file: String
    ) -> [ManifestProblem] {
        manifest.sandbox.write.compactMap { grant in
            guard let full = examined(grant.path), let walk = try? PathWalk(full),
                let end = (try? PathWalk.Step.at(walk.realPath)) ?? nil, end.kind == .directory,
                !users.contains(end.owner), end.mode & 0o022 == 0
            else { return nil }
            return ManifestProblem(
                severity: .warning, file: file,
                finding: "tasks can't write to '\(grant.path)': they run as a user of their bundle, and the "
                    + "directory belongs to user \(end.owner) with mode \(String(end.mode & 0o7777, radix: 8))",
                remedy: "Grant a directory that the host makes for that user, such as {path: "
                    + "\(grant.path)/\(manifest.bundle), create: true}, or after the first launch, permit it: "
                    + "setfacl -m u:$(stat -c %u STATE/data/\(manifest.bundle)):rwx \(grant.path)")
        }
    }

    /// The path of a grant, with the home directory of this user; `nil` if it has a value of the payload.
    static func examined(_ path: String) -> String? {
        if path.contains("${") { return nil }
        guard path == "~" || path.hasPrefix("~/") else { return path }
        guard let home = ProcessFacts.environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + path.dropFirst()
    }
}
