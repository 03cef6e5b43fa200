import LinuxSystem
import Signatures
import StrictFiles
import TaskModel

/// Reads the files in `conditions.d`; if a file becomes invalid, its last valid version stays active.
struct ConditionFiles {
    private let directory: String?
    private let signatures: SignatureRule
    private var lastRight: [String: ReadCondition] = [:]

    /// Creates a reader of a directory; `nil` means that there are no files.
    init(directory: String?, signatures: SignatureRule) {
        self.directory = directory
        self.signatures = signatures
    }

    /// Reads all files again.
    ///
    /// - Returns: The conditions, sorted by name. If several files define the same name, all of them are
    ///   reported and none is used.
    mutating func scan(_ problems: inout [ManifestProblem]) -> [CustomCondition] {
        let paths = paths(&problems)
        lastRight = lastRight.filter { paths.contains($0.key) }
        var entries: [(file: String, read: ReadCondition)] = []
        for path in paths {
            let (read, found) = Self.read(path, isInstalled: true, signatures: signatures)
            problems += found
            if read == nil, lastRight[path] != nil {
                problems.append(
                    ManifestProblem(
                        severity: .warning, file: path, finding: "its last valid version stays active",
                        remedy: "Correct its errors"))
            }
            guard let active = read ?? lastRight[path] else { continue }
            lastRight[path] = active
            entries.append((path, active))
        }
        let twins = Self.twins(in: entries)
        problems += twins.values
        return entries.filter { twins[$0.file] == nil }.map(\.read.condition).sorted { $0.name < $1.name }
    }

    /// Reads one file, for the host or for lint.
    ///
    /// If `isInstalled` is true, the host uses the file, so its owner, its signature and its program are
    /// checked, too.
    ///
    /// - Returns: The definition, or `nil` if it can't be used; and all problems.
    static func read(
        _ path: String, isInstalled: Bool, signatures: SignatureRule = SignatureRule()
    ) -> (ReadCondition?, [ManifestProblem]) {
        do {
            if isInstalled, let problem = try FileTrust.problem(with: path, called: "the condition") {
                return (nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)])
            }
            let bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
            if isInstalled,
                let problem = signatures.problem(with: path, contents: bytes, called: "the condition")
            {
                return (nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)])
            }
            let (read, found) = ConditionReader.read(bytes, file: path)
            guard let read, isInstalled, let problem = programProblem(read, in: path) else {
                return (read, found)
            }
            return (problem.severity == .error ? nil : read, found + [problem])
        } catch {
            return (
                nil,
                [
                    ManifestProblem(
                        file: path, finding: FileAdvice.finding(error, at: path),
                        remedy: FileAdvice.unreadable(isInstalled: isInstalled))
                ]
            )
        }
    }

    /// The problem with the program of a definition.
    ///
    /// A host that runs as root must not run a program that other users can change. The same holds for the
    /// interpreter of a script, and for a script that is an argument of an interpreter. A missing program is
    /// only a warning, because it can be installed later.
    private static func programProblem(_ read: ReadCondition, in file: String) -> ManifestProblem? {
        guard case .command(let command) = read.condition.source else { return nil }
        let place = read.programPlace
        do {
            guard let problem = try CommandTrust.problem(with: command.arguments) else {
                return nil
            }
            return ManifestProblem(
                file: file, line: place?.line, column: place?.column, finding: problem.finding,
                remedy: problem.remedy)
        } catch {
            return ManifestProblem(
                severity: .warning, file: file, line: place?.line, column: place?.column, finding: "\(error)",
                remedy: "Install the program; until then \(read.condition.name) is unknown")
        }
    }

    /// A problem for each file that defines the same condition as another file, by path.
    static func twins(in entries: [(file: String, read: ReadCondition)]) -> [String: ManifestProblem] {
        var problems: [String: ManifestProblem] = [:]
        for (name, same) in Dictionary(grouping: entries, by: \.read.condition.name) where same.count > 1 {
            for entry in same {
                let others = same.map(\.file).filter { $0 != entry.file }.sorted().joined(separator: ", ")
                problems[entry.file] = ManifestProblem(
                    file: entry.file, line: entry.read.place.line, column: entry.read.place.column,
                    finding: "\(others) also defines '\(name)'; none of the definitions is used",
                    remedy: "Keep one definition")
            }
        }
        return problems
    }

    private func paths(_ problems: inout [ManifestProblem]) -> [String] {
        guard let directory else { return [] }
        do {
            return try YAMLFiles.paths(in: directory)
        } catch {
            problems.append(
                ManifestProblem(
                    file: directory, finding: "\(error)",
                    remedy: "Make it a directory that the host's user can read: mkdir -p \(directory)")
            )
            return []
        }
    }
}
