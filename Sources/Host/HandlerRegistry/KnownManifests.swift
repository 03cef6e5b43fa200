import LinuxSystem
import Signatures
import StrictFiles
import TaskModel

/// The manifests of a directory as they were last read, so that a scan reads only files that have changed.
struct KnownManifests {
    private struct File {
        var identity: FileIdentity
        var signature: FileIdentity?
        var read: ReadManifest?
        var problems: [ManifestProblem]
    }

    /// The result of reading each file, by path, except for files that were modified too recently to be sure.
    private var files: [String: File] = [:]
    /// The last valid version of each file, by path.
    private var lastRight: [String: ReadManifest] = [:]
    private var paths: [String] = []
    private let signatures: SignatureRule
    /// How many files were read since the registry was created; for tests.
    private(set) var readCount = 0
    /// Whether a manifest in the last scan was a link; the watch of the directory does not cover its target.
    private(set) var hasLinks = false

    /// Creates an empty directory of manifests, each of which must have a signature that the rule accepts.
    init(signatures: SignatureRule) { self.signatures = signatures }

    /// The manifests and problems that a scan found.
    struct Look {
        /// The active manifests: the present version of each file, or its last valid one.
        var entries: [ManifestConflicts.Entry] = []
        /// The problems in the files.
        var problems: [ManifestProblem] = []
        /// Whether the manifests are the same as in the previous scan, and none has a `call:` or a
        /// `command:`.
        var isUnchanged = true
    }

    /// Checks the files at these paths, and reads those that have changed.
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
        // The identity includes the file's owner and mode, but not those of the directories above it.
        let signature = signatures.signatureIdentity(of: path)
        if let known = files[path], known.identity == identity, known.signature == signature,
            trust.trustsDirectory(of: path)
        {
            return enter(path, known.read, known.problems, &look, &calls)
        }
        look.isUnchanged = false
        readCount += 1
        let (read, problems) = ManifestFile.parse(path, trust: &trust, signatures: signatures)
        files[path] = identity.flatMap { identity in
            // Remember the result only if every later change of the file must change its identity.
            identity.isRegular && identity.isSettled && signature?.isSettled != false
                ? File(identity: identity, signature: signature, read: read, problems: problems) : nil
        }
        enter(path, read, problems, &look, &calls)
    }

    private mutating func enter(
        _ path: String, _ read: ReadManifest?, _ problems: [ManifestProblem], _ look: inout Look,
        _ calls: inout CallLibraries
    ) {
        look.problems += problems
        var right = read
        if let manifest = read, manifest.manifest.tasks.contains(where: \.hasOwnProgram) {
            let found = ManifestFile.check(manifest, file: path, calls: &calls)
            look.problems += found
            if found.contains(where: { $0.severity == .error }) { right = nil }
            // A change of a library can make this version or the last valid one active.
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
