import LinuxSystem
public import Signatures
import StrictFiles
public import TaskModel

/// Implements `bgtask lint`: reads files with the host's code, but copies and runs nothing.
public enum ManifestLinter {
    /// Checks manifests and definitions of conditions: each file, and conflicts between them.
    ///
    /// - Parameters:
    ///   - files: The paths of manifests and of files with the key `condition`.
    ///   - pluginsDirectory: The directory of the files that `library:` names. If it is `nil`, these
    ///     libraries and the owners of the files are not checked, and the libraries of calls are searched
    ///     only on the loader's paths.
    ///   - conditionsDirectory: The directory of further conditions; `nil` means `conditions.d` beside each
    ///     manifest's directory.
    ///   - signatures: The signatures that the host requires; checked only with a plugins directory.
    ///   - search: Where the libraries of calls are searched first; `nil` means the plugins directory.
    ///   - machine: The layers of the sandbox that this machine has. A manifest that counts on another one
    ///     gets a warning. `nil` checks nothing.
    ///   - now: The present time; `nil` if schedules that have no further dates need no warning.
    ///   - hostFiles: The directories of a host that no manifest may have a write grant for. With a plugins
    ///     directory, those of the manifests, too.
    ///   - looksUpGrants: Whether to warn of `read` and `write` grants whose files this machine lacks.
    ///   - users: The users of bundles of the host that will read the manifests. It gets warnings of `write`
    ///     grants of directories of others; `nil` if tasks run as the host's user, or if that is not known.
    /// - Returns: All problems, sorted by file, line and column; the host uses the files if none is an error.
    public static func lint(
        files: [String], pluginsDirectory: String?, conditionsDirectory: String? = nil,
        signatures: SignatureRule = SignatureRule(), calls search: CallSearch? = nil,
        machine: Set<SandboxLayer>? = nil, now: WallTime? = nil, hostFiles: HostFiles = HostFiles(),
        looksUpGrants: Bool = false, users: ClosedRange<UInt32>? = nil
    ) -> [ManifestProblem] {
        var calls = CallLibraries(search ?? CallSearch([pluginsDirectory].compactMap(\.self)))
        var problems: [ManifestProblem] = []
        var entries: [ManifestConflicts.Entry] = []
        var conditions: [(file: String, read: ReadCondition)] = []
        for file in files where !entries.contains(where: { $0.file == file }) {
            if let bytes = try? FileContents.read(file, limit: YAMLDocument.maximumSize),
                ConditionReader.isDefinition(bytes)
            {
                let (read, found) = ConditionFiles.read(
                    file, isInstalled: pluginsDirectory != nil, signatures: signatures)
                problems += found
                if let read, !conditions.contains(where: { $0.file == file }) {
                    conditions.append((file, read))
                }
                continue
            }
            let (read, found) = ManifestFile.read(
                file, isInstalled: pluginsDirectory != nil, signatures: signatures, calls: &calls)
            problems += found
            guard let read else { continue }
            entries.append((file, read))
            if let now { problems += pastSchedules(in: read, file, at: now) }
            problems += hostFiles.adding(installed(file, pluginsDirectory, conditionsDirectory))
                .grants(of: read.manifest.sandbox).map { HostFiles.problem(of: $0, file) }
            if looksUpGrants { problems += GrantedFiles.problems(of: read.manifest.sandbox, file) }
            if let users { problems += GrantedFiles.problems(of: read.manifest, users, file) }
            if let machine {
                let isolation = IsolationReport(groupKill: .noFork, layers: [], sandbox: machine)
                problems += read.manifest.isolationProblem(file, isolation).map { [$0] } ?? []
            }
            guard let pluginsDirectory, let library = read.manifest.library else { continue }
            var libraries = PluginLibraries(
                pluginsDirectory: pluginsDirectory, cacheDirectory: "", signatures: signatures)
            do {
                if try !libraries.check(library) {
                    problems.append(.notAPlugin(library, file: file, place: read.libraryPlace))
                }
            } catch {
                let place = read.libraryPlace
                problems.append(
                    ManifestProblem(
                        file: file, line: place?.line, column: place?.column, finding: error.finding,
                        remedy: error.remedy))
            }
        }
        problems += ManifestConflicts.find(in: entries).values.joined()
        problems += ConditionFiles.twins(in: conditions).values
        let given = Set(conditions.map(\.read.condition.name))
        for entry in entries {
            let defined = given.union(names(in: conditionsDirectory ?? conditionsBeside(entry.file)))
            problems += ConditionReferences.problems(in: [entry], defined: defined)
            problems += ConflictReferences.problems(in: [entry])
        }
        return problems.sorted {
            ($0.file, $0.line ?? 0, $0.column ?? 0, $0.finding) < (
                $1.file, $1.line ?? 0, $1.column ?? 0, $1.finding
            )
        }
    }

    /// The files to check: those that are named, and the YAML files of the directories that are named; and
    /// the problems with these directories.
    public static func files(at paths: [String]) -> (files: [String], problems: [ManifestProblem]) {
        var (files, problems): ([String], [ManifestProblem]) = ([], [])
        for path in paths {
            guard DirectoryTree.isDirectory(path) else {
                files.append(path)
                continue
            }
            do throws(SystemCallError) {
                let found = try YAMLFiles.paths(in: path)
                files += found
                if !found.isEmpty { continue }
                problems.append(
                    ManifestProblem(
                        file: path, finding: "the directory has no file whose name ends in .yaml or .yml",
                        remedy: "Name a manifest, or a directory of manifests"))
            } catch {
                problems.append(
                    ManifestProblem(
                        file: path, finding: "the directory can't be read: \(error)",
                        remedy: "Check its permissions"))
            }
        }
        return (files, problems)
    }

    /// The names that the valid files in a directory define; empty if the directory does not exist.
    private static func names(in directory: String) -> [String] {
        let paths = (try? YAMLFiles.paths(in: directory)) ?? []
        return paths.compactMap { ConditionFiles.read($0, isInstalled: false).0?.condition.name }
    }

    /// The directories of the host that an installed manifest belongs to.
    private static func installed(_ file: String, _ plugins: String?, _ conditions: String?) -> HostFiles {
        guard let plugins else { return HostFiles() }
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        return HostFiles(manifests: [directory], plugins: plugins, conditions: conditions)
    }

    private static func conditionsBeside(_ manifest: String) -> String {
        let directory = manifest.lastIndex(of: "/").map { String(manifest[..<$0]) } ?? "."
        // A path that ends in "." has no last component to replace.
        return directory.hasSuffix(".")
            ? directory + "/../conditions.d" : ConditionsDirectory.beside(directory)
    }
}

extension ManifestLinter {
    /// Reads and checks the manifests in a directory, but neither the libraries that `library:` names nor the
    /// owners of the files.
    ///
    /// A host would leave out only the manifests that have errors. This function then returns none at all,
    /// because a simulation without them would mislead.
    ///
    /// - Returns: The manifests, or none if any file has an error; and all problems.
    /// - Throws: The system call's error if the directory can't be read.
    public static func manifests(
        in directory: String, calls search: CallSearch
    ) throws -> ([Manifest], [ManifestProblem]) {
        let files = try YAMLFiles.paths(in: directory)
        var calls = CallLibraries(search)
        var manifests: [Manifest] = []
        for file in files {
            if let read = ManifestFile.read(file, isInstalled: false, calls: &calls).0 {
                manifests.append(read.manifest)
            }
        }
        let problems = lint(files: files, pluginsDirectory: nil, calls: search)
        return (problems.contains { $0.severity == .error } ? [] : manifests, problems)
    }
}

extension Manifest {
    /// The warning that a host refuses launches of this manifest, because the machine lacks a layer of
    /// isolation; `nil` if it has all that the manifest counts on.
    public func isolationProblem(_ file: String, _ isolation: IsolationReport) -> ManifestProblem? {
        sandbox.refusal(by: isolation, isRequired: true).map { refusal in
            ManifestProblem(
                severity: .warning, file: file,
                finding: "the host will refuse its launches: \(refusal.finding)", remedy: refusal.remedy)
        }
    }
}
