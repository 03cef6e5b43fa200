import LinuxSystem
import Signatures
import StrictFiles
import TaskModel

/// Scans the directories, and keeps the last valid version of each file while the file has errors.
struct RegistryScanner {
    private let manifestsDirectory: String
    private let hostFiles: HostFiles
    private var conditionFiles: ConditionFiles
    private(set) var manifests: KnownManifests
    private(set) var libraries: PluginLibraries
    private var callLibraries: CallLibraries
    /// The conflicts and identifiers of the manifests in the last scan.
    private var claims = Claims()
    /// The last copy of each library, by the library's name.
    private var lastStaged: [String: StagedLibrary] = [:]
    /// The result of copying each library in the present scan, so that each is copied only once.
    private var staged: [String: Result<StagedLibrary, LibraryError>] = [:]
    /// The result of the last scan; `nil` before the first.
    private(set) var last: RegistrySnapshot?

    /// Facts that depend on all manifests together.
    private struct Claims {
        /// The conflicts between manifests, by file.
        var conflicts: [String: [ManifestProblem]] = [:]
        /// Every identifier that a manifest declares without a wildcard.
        var identifiers: Set<TaskIdentifier> = []

        init() {}

        init(of entries: [ManifestConflicts.Entry]) {
            conflicts = ManifestConflicts.find(in: entries)
            for entry in entries {
                for task in entry.read.manifest.tasks where !task.pattern.isWildcard {
                    identifiers.insert(task.pattern.base)
                }
            }
        }
    }

    init(
        manifestsDirectory: String, pluginsDirectory: String, libraryCacheDirectory: String,
        conditionsDirectory: String?, hostFiles: HostFiles, signatures: SignatureRule
    ) {
        self.hostFiles = hostFiles
        conditionFiles = ConditionFiles(directory: conditionsDirectory, signatures: signatures)
        manifests = KnownManifests(signatures: signatures)
        self.manifestsDirectory = manifestsDirectory
        libraries = PluginLibraries(
            pluginsDirectory: pluginsDirectory, cacheDirectory: libraryCacheDirectory, signatures: signatures)
        callLibraries = CallLibraries(CallSearch([pluginsDirectory]))
    }

    /// Checks all manifests, conditions and libraries, and reads those that have changed.
    ///
    /// - Returns: The last scan's own value if nothing has changed, so that comparing the two is fast.
    mutating func scan() -> RegistrySnapshot {
        var problems: [ManifestProblem] = []
        let conditions = conditionFiles.scan(&problems)
        callLibraries.beginScan()
        let look = manifests.look(at: manifestPaths(&problems), calls: &callLibraries)
        problems += look.problems
        if !look.isUnchanged { claims = Claims(of: look.entries) }
        problems += claims.conflicts.values.joined()
        problems += ConditionReferences.problems(in: look.entries, defined: Set(conditions.map(\.name)))
        problems += ConflictReferences.problems(in: look.entries)
        let handlers = look.entries.filter { claims.conflicts[$0.file] == nil }
            .compactMap { handler($0.file, $0.read, &problems) }
        libraries.forgetOthers()
        lastStaged = lastStaged.filter { staged[$0.key] != nil }
        staged = [:]
        problems.sort {
            ($0.file, $0.line ?? 0, $0.column ?? 0, $0.finding) < (
                $1.file, $1.line ?? 0, $1.column ?? 0, $1.finding
            )
        }
        let snapshot = RegistrySnapshot(handlers: handlers, conditions: conditions, problems: problems)
        if let last, last == snapshot { return last }
        last = snapshot
        return snapshot
    }

    /// Removes the copies that the last scan did not use, except those with these hashes.
    func removeUnusedCopies(keeping inUse: Set<String>) throws(SystemCallError) -> Int {
        guard let last else { return 0 }
        var kept = inUse.union(lastStaged.values.map(\.hash))
        for handler in last.handlers { kept.formUnion(handler.libraryCopies) }
        return try libraries.removeCopies(except: kept)
    }

    private func manifestPaths(_ problems: inout [ManifestProblem]) -> [String] {
        do {
            return try YAMLFiles.paths(in: manifestsDirectory)
        } catch {
            problems.append(
                ManifestProblem(
                    file: manifestsDirectory, finding: "\(error)",
                    remedy:
                        "Make it a directory that the host's user can read: mkdir -p \(manifestsDirectory)"))
            return []
        }
    }

    /// Copies the libraries that a manifest needs; returns `nil` if one can't be used, after a problem is
    /// reported.
    private mutating func handler(
        _ path: String, _ read: ReadManifest, _ problems: inout [ManifestProblem]
    ) -> PermittedHandler? {
        var manifest = read.manifest
        var staged: StagedLibrary?
        if let library = manifest.library {
            staged = stage(library, path, read.libraryPlace, &problems)
            guard staged != nil else { return nil }
            if staged?.isPlugin == false {
                problems.append(.notAPlugin(library, file: path, place: read.libraryPlace))
            }
        }
        if staged?.isApp == true {
            manifest.appLaunch = AppLaunchIdentifier.make(for: manifest.bundle, besides: claims.identifiers)
        }
        for index in manifest.tasks.indices {
            guard let program = manifest.tasks[index].call else { continue }
            guard let resolved = resolve(program, path, read.callPlaces[index]?.library, &problems) else {
                return nil
            }
            manifest.tasks[index].call = resolved
        }
        var handler = PermittedHandler(
            manifestPath: path, manifest: manifest, libraryPath: staged?.path, libraryHash: staged?.hash)
        handler.hostGrants = hostFiles.grants(of: manifest.sandbox)
        problems += handler.hostGrants.map { HostFiles.problem(of: $0, path) }
        return handler
    }

    /// Replaces the libraries of a call by their copies, if they are in the plugins directory.
    private mutating func resolve(
        _ program: CallProgram, _ path: String, _ place: Place?, _ problems: inout [ManifestProblem]
    ) -> CallProgram? {
        var names: Set<String> = [program.library]
        names.formUnion(program.invocations.compactMap(\.library))
        var paths: [String: String] = [:]
        for name in names where libraries.has(name) {
            guard let staged = stage(name, path, place, &problems) else { return nil }
            paths[name] = staged.path
        }
        return program.replacingLibraries { paths[$0] ?? $0 }
    }

    /// Copies a library; if it has become invalid, the old copy stays active, unless what it loads can't be
    /// trusted any more.
    private mutating func stage(
        _ name: String, _ path: String, _ place: Place?, _ problems: inout [ManifestProblem]
    ) -> StagedLibrary? {
        let result =
            staged[name] ?? Result { () throws(LibraryError) in try libraries.stage(name) }
        staged[name] = result
        switch result {
        case .success(let copy):
            lastStaged[name] = copy
            return copy
        case .failure(let error):
            if error.isMissing || error.mustStop { lastStaged[name] = nil }
            let old = lastStaged[name]
            problems.append(
                ManifestProblem(
                    file: path, line: place?.line, column: place?.column,
                    finding: error.finding + (old == nil ? "" : "; its last copy stays active"),
                    remedy: error.remedy))
            return old
        }
    }
}
