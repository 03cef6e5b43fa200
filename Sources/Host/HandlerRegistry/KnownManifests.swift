import LinuxSystem
import StrictFiles
import TaskModel

/// The manifests of a directory as they were read, so that a scan reads only those that have changed.
struct KnownManifests {
    private struct File {
        var identity: FileIdentity
        var read: ReadManifest?
        var problems: [ManifestProblem]
    }

    /// What was read of each file, by path; a file that a scan may have to read once more is not among them.
    private var files: [String: File] = [:]
    /// The last valid version of each file, by path.
    private var lastRight: [String: ReadManifest] = [:]
    private var paths: [String] = []
    /// Files that were read since the registry was made; tests count them.
    private(set) var readCount = 0
    /// Whether a file of the last look was a link, whose target no watch of the directory covers.
    private(set) var hasLinks = false

    /// What a look at the directory found.
    struct Look {
        /// The manifests in force: the file's version, or its last valid one.
        var entries: [ManifestConflicts.Entry] = []
        /// What was found wrong in the files.
        var problems: [ManifestProblem] = []
        /// Whether the files' own contents are those of the look before; their calls' libraries may differ.
        var isUnchanged = true
    }

    /// Looks at files, and reads those that are not as they were.
    mutating func look(at paths: [String], calls: inout CallLibraries) -> Look {
        var look = Look()
        look.isUnchanged = paths == self.paths
        if !look.isUnchanged {
            self.paths = paths
            let present = Set(paths)
            files = files.filter { present.contains($0.key) }
            lastRight = lastRight.filter { present.contains($0.key) }
        }
        hasLinks = false
        var trust = FileTrust()
        for path in paths { take(path, &look, &trust, &calls) }
        return look
    }

    private mutating func take(
        _ path: String, _ look: inout Look, _ trust: inout FileTrust, _ calls: inout CallLibraries
    ) {
        let identity = try? FileIdentity(ofEntry: path)
        if identity?.isRegular != true { hasLinks = true }
        // The owner and the mode are part of the identity; the directories above the file are not.
        if let known = files[path], known.identity == identity, trust.trustsDirectory(of: path) {
            return enter(path, known.read, known.problems, &look, &calls)
        }
        look.isUnchanged = false
        readCount += 1
        let (read, problems) = ManifestFile.parse(path, trust: &trust)
        files[path] = identity.flatMap { identity in
            // Whatever happens to the file from now on must show in its times.
            identity.isRegular && identity.isSettled
                ? File(identity: identity, read: read, problems: problems) : nil
        }
        enter(path, read, problems, &look, &calls)
    }

    private mutating func enter(
        _ path: String, _ read: ReadManifest?, _ problems: [ManifestProblem], _ look: inout Look,
        _ calls: inout CallLibraries
    ) {
        look.problems += problems
        var right = read
        if let manifest = read, manifest.manifest.tasks.contains(where: { $0.call != nil }) {
            let found = ManifestFile.check(manifest, file: path, calls: &calls)
            look.problems += found
            if found.contains(where: { $0.severity == .error }) { right = nil }
            // A library can make the file's last valid version count, or count no more.
            look.isUnchanged = false
        }
        if let right {
            lastRight[path] = right
            look.entries.append((path, right))
        } else if let old = lastRight[path] {
            look.problems.append(
                ManifestProblem(
                    severity: .warning, file: path, finding: "its last valid version stays active",
                    remedy: nil))
            look.entries.append((path, old))
        }
    }
}
