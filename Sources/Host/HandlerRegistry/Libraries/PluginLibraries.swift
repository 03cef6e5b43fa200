import Digests
import LinuxSystem
import Signatures
import StrictFiles
import TaskModel

/// The reason why a library in the plugins directory can't be used.
struct LibraryError: Error, Equatable {
    var finding: String
    var remedy: String
    /// Whether the file does not exist; false if it exists and is not valid.
    var isMissing = false
    /// Whether the last copy must not be used either, because it loads the same untrusted files.
    var mustStop = false
}

/// The host's copy of a library and of the libraries beside it that it needs.
struct StagedLibrary: Equatable, Sendable {
    /// The absolute path of the copied library, without links.
    var path: String
    /// A SHA-256 hash in hexadecimal, of the names and contents of the copied files.
    var hash: String
    /// Whether the library, or a copied dependency, exports ``appEntry``.
    var isApp: Bool
    /// Whether the library, or a copied dependency, exports ``pluginEntry``; without it, no launch can load
    /// it.
    var isPlugin: Bool

    /// The function that every plugin exports; see `bgtask.h`.
    static let pluginEntry = "bgtask_plugin_entry"

    /// The function that an app exports, which is a plugin with launch code of its own; see `bgtask.h`.
    static let appEntry = "bgtask_app_entry"
}

extension ManifestProblem {
    /// A warning about a library that no launch can load.
    static func notAPlugin(_ library: String, file: String, place: Place?) -> Self {
        Self(
            severity: .warning, file: file, line: place?.line, column: place?.column,
            finding:
                "library '\(library)' does not export \(StagedLibrary.pluginEntry), so its tasks can't run",
            remedy: "Export the function as bgtask.h describes it, and check the version script")
    }
}

/// Copies libraries from the plugins directory to directories that are named by a hash of the contents.
///
/// The copies keep their file names and stay side by side, so that `$ORIGIN` works. A later change of the
/// plugins directory does not affect running tasks.
struct PluginLibraries {
    let pluginsDirectory: String
    let cacheDirectory: String
    private let signatures: SignatureRule
    /// The facts about each file that was read, by name.
    private var known: [String: Known] = [:]
    /// What was examined since the last ``forgetOthers()``; many plugins load the same libraries.
    private var loading = LoaderTrust()
    /// Whether a library is a link, whose target can change without a change of the directory.
    private(set) var hasLinks = false
    private var foundLinks = false
    /// The names that were read since the last ``forgetOthers()``.
    private var asked: Set<String> = []

    /// The greatest size of a library: 512 MiB.
    ///
    /// Our choice: many times that of a plugin with Swift's whole library in it. The host reads a library as
    /// a whole.
    static let maximumSize = ByteCount.mebibytes(512)

    /// Facts from the contents of a library.
    private struct Facts {
        /// The SHA-256 hash of the file, in hexadecimal.
        var hash: String
        /// The names of the libraries that this one depends on.
        var needed: [String]
        /// The directories in which the loader looks for them first, as the library names them.
        var runPaths: [String]
        /// The entry functions that the library exports: at most ``pluginEntry`` and ``appEntry``.
        var entries: Set<String>
    }

    /// The facts about a file that was read.
    ///
    /// While the file and its signature are unchanged, it is not read again.
    private struct Known {
        var identity: FileIdentity
        var signature: FileIdentity?
        var facts: Result<Facts, LibraryError>
    }

    init(pluginsDirectory: String, cacheDirectory: String, signatures: SignatureRule) {
        self.pluginsDirectory = pluginsDirectory
        self.cacheDirectory = cacheDirectory
        self.signatures = signatures
    }

    /// Whether the plugins directory contains a file with this name.
    func has(_ name: String) -> Bool {
        (try? FileIdentity(of: "\(pluginsDirectory)/\(name)")) != nil
    }

    /// Copies a library and its dependencies in the plugins directory, unless a copy exists.
    ///
    /// - Throws: ``LibraryError`` if the library is missing, damaged, outside the directory, or writable by
    ///   other users.
    mutating func stage(_ name: String) throws(LibraryError) -> StagedLibrary {
        var (files, entries) = try readWithSiblings(name)
        files.sort { $0.name < $1.name }
        var summary = ""
        for file in files { summary += "\(file.name) \(file.hash)\n" }
        let hash = SHA256.hexadecimal(of: Array(summary.utf8))
        do {
            return StagedLibrary(
                path: try copy(files, hash: hash, main: name), hash: hash,
                isApp: entries.contains(StagedLibrary.appEntry),
                isPlugin: entries.contains(StagedLibrary.pluginEntry))
        } catch let error as LibraryError {
            throw error
        } catch {
            throw LibraryError(
                finding: "library '\(name)' could not be copied: \(error)",
                remedy: "Make sure that the state directory has free space and that the host may write to it")
        }
    }

    /// Checks that a library could be copied.
    ///
    /// - Returns: Whether it is a plugin: it or a dependency in the plugins directory exports
    ///   ``StagedLibrary/pluginEntry``.
    /// - Throws: ``LibraryError``, as ``stage(_:)`` does.
    mutating func check(_ name: String) throws(LibraryError) -> Bool {
        try readWithSiblings(name).entries.contains(StagedLibrary.pluginEntry)
    }

    /// Reads a library and, recursively, its dependencies that are in the plugins directory.
    private mutating func readWithSiblings(
        _ name: String
    ) throws(LibraryError) -> (files: [(name: String, hash: String)], entries: Set<String>) {
        var files: [(name: String, hash: String)] = []
        var entries: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            guard !files.contains(where: { $0.name == next }) else { continue }
            let facts = try read(next)
            files.append((next, facts.hash))
            entries.formUnion(facts.entries)
            // The copies are side by side, and $ORIGIN is their directory.
            waiting += facts.needed.map { $0.hasPrefix("$ORIGIN/") ? String($0.dropFirst(8)) : $0 }
                .filter { !$0.contains("/") && has($0) }
        }
        return (files, entries)
    }

    /// Forgets the files that were not read since the last call, and what the loader finds for them, and
    /// updates ``hasLinks``.
    mutating func forgetOthers() {
        loading = LoaderTrust()
        known = known.filter { asked.contains($0.key) }
        asked = []
        hasLinks = foundLinks
        foundLinks = false
    }

    /// Removes the copies whose hashes are not in `kept`, and the remains of interrupted copies.
    ///
    /// - Returns: The number of removed directories.
    /// - Throws: The error of the failed system call.
    func removeCopies(except kept: Set<String>) throws(SystemCallError) -> Int {
        guard DirectoryTree.isDirectory(cacheDirectory) else { return 0 }
        var count = 0
        for name in try DirectoryTree.names(in: cacheDirectory) where !kept.contains(name) {
            // The copies are read-only, and only root can remove the entries of a read-only directory.
            try DirectoryTree.setMode("\(cacheDirectory)/\(name)", 0o755)
            try DirectoryTree.remove("\(cacheDirectory)/\(name)")
            count += 1
        }
        return count
    }

    private func copy(
        _ files: [(name: String, hash: String)], hash: String, main: String
    ) throws -> String {
        try DirectoryTree.make(cacheDirectory)
        let directory = "\(cacheDirectory)/\(hash)"
        if !DirectoryTree.isDirectory(directory) {
            let temporary = try DirectoryTree.makeUnique(prefix: "\(cacheDirectory)/.copying-")
            do {
                for file in files {
                    let bytes = try FileContents.read(
                        "\(pluginsDirectory)/\(file.name)", limit: Int(Self.maximumSize.bytes))
                    guard SHA256.hexadecimal(of: bytes) == file.hash else {
                        throw LibraryError(
                            finding: "library '\(file.name)' changed while it was copied",
                            remedy:
                                "The host reads the file again after its next change. To install a library, rename the complete file into place"
                        )
                    }
                    try FileContents.create("\(temporary)/\(file.name)", bytes, mode: 0o555)
                }
                // A task that runs with another user id must be able to load the library.
                try DirectoryTree.setMode(temporary, 0o755)
                if try !DirectoryTree.rename(temporary, to: directory) { try DirectoryTree.remove(temporary) }
                try DirectoryTree.setMode(directory, 0o555)
            } catch {
                // The first error is the one to report; a leftover directory only takes space.
                try? DirectoryTree.remove(temporary)
                throw error
            }
        }
        return try DirectoryTree.realPath(of: directory) + "/" + main
    }

    private mutating func read(_ name: String) throws(LibraryError) -> Facts {
        asked.insert(name)
        let path = "\(pluginsDirectory)/\(name)"
        let identity: FileIdentity
        let realPath: String
        do {
            identity = try FileIdentity(of: path)
            realPath = try DirectoryTree.realPath(of: path)
            let directory = try DirectoryTree.realPath(of: pluginsDirectory)
            if realPath != (directory == "/" ? "" : directory) + "/" + name { foundLinks = true }
            guard realPath.hasPrefix(directory == "/" ? "/" : directory + "/") else {
                throw LibraryError(
                    finding: "library '\(name)' points outside the plugins directory, to \(realPath)",
                    remedy: "Put the file itself into the plugins directory")
            }
        } catch let error as LibraryError {
            throw error
        } catch let error as SystemCallError where !error.isOfMissingFile {
            throw LibraryError(
                finding: "library '\(name)' can't be read: \(error)",
                remedy: "Make the library readable for the host's user")
        } catch {
            throw LibraryError(
                finding: "library '\(name)' is not in the plugins directory \(pluginsDirectory)",
                remedy: "Put the library there", isMissing: true)
        }
        try checkTrust(name) { () throws(SystemCallError) in
            try FileTrust.problem(with: path, called: "library '\(name)'")
        }
        let facts = try facts(of: name, realPath, identity)
        // Known facts do not say who can change these directories now.
        try checkTrust(name, mustStop: true) { () throws(SystemCallError) in
            loading.problem(
                ofPlugin: name, ELFNeeds(needed: facts.needed, runPaths: facts.runPaths),
                copiedBelow: cacheDirectory)
        }
        return facts
    }

    private mutating func facts(
        of name: String, _ realPath: String, _ identity: FileIdentity
    ) throws(LibraryError) -> Facts {
        let signature = signatures.signatureIdentity(of: "\(pluginsDirectory)/\(name)")
        if let known = known[name], known.identity == identity, known.signature == signature {
            return try known.facts.get()
        }
        let facts = Result { () throws(LibraryError) in try read(name, realPath, identity) }
        known[name] =
            identity.isSettled && signature?.isSettled != false
            ? Known(identity: identity, signature: signature, facts: facts) : nil
        return try facts.get()
    }

    private func checkTrust(
        _ name: String, mustStop: Bool = false, _ problem: () throws(SystemCallError) -> FileTrust.Problem?
    ) throws(LibraryError) {
        do {
            guard let problem = try problem() else { return }
            throw LibraryError(finding: problem.finding, remedy: problem.remedy, mustStop: mustStop)
        } catch let error as LibraryError {
            throw error
        } catch {
            throw LibraryError(
                finding: "library '\(name)' can't be read: \(error)",
                remedy: "Make the library readable for the host's user")
        }
    }

    private func read(
        _ name: String, _ path: String, _ identity: FileIdentity
    ) throws(LibraryError) -> Facts {
        guard identity.isRegular else {
            throw LibraryError(
                finding: "library '\(name)' is not a regular file", remedy: "Replace it with a shared library"
            )
        }
        func tooLarge(_ size: Int64) -> LibraryError {
            LibraryError(
                finding: "library '\(name)' has \(ByteCount(bytes: size)); the limit is \(Self.maximumSize)",
                remedy: "Move the data out of the library, into files of its own")
        }
        if identity.size > Self.maximumSize.bytes { throw tooLarge(identity.size) }
        do {
            let bytes = try FileContents.read(path, limit: Int(Self.maximumSize.bytes))
            if bytes.count > Self.maximumSize.bytes { throw tooLarge(Int64(bytes.count)) }
            let signed = "\(pluginsDirectory)/\(name)"
            if let problem = signatures.problem(
                with: signed, contents: bytes, called: "library '\(name)'")
            {
                throw LibraryError(finding: problem.finding, remedy: problem.remedy)
            }
            let file = try ELFFile(
                bytes, functions: .only([StagedLibrary.appEntry, StagedLibrary.pluginEntry]))
            // By the program headers, which the loader reads; the others need not agree with them.
            let needs = try ELFNeeds.of(bytes: bytes)
            return Facts(
                hash: SHA256.hexadecimal(of: bytes), needed: needs?.needed ?? file.needed,
                runPaths: needs?.runPaths ?? file.runPaths,
                entries: file.functions)
        } catch let error as LibraryError {
            throw error
        } catch let error as ELFFile.FormatError {
            throw LibraryError(
                finding: "library '\(name)': \(error.finding)",
                remedy: "Build it as a shared library: cc -shared -fPIC")
        } catch {
            throw LibraryError(
                finding: "library '\(name)' can't be read: \(error)",
                remedy: "Make the library readable for the host's user")
        }
    }
}
