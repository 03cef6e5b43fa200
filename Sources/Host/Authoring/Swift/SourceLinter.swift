import HandlerRegistry
import LinuxSystem
import StrictFiles
public import TaskModel

/// Implements `bgtask lint --sources`.
///
/// Reports code that conditions exclude on Linux, code that does not compile there, and identifiers that no
/// manifest permits.
public enum SourceLinter {
    /// The size of the largest source that is read, 4 MiB; larger files are usually generated.
    private static let maximumSize = 4 << 20

    /// The result of checking a directory of sources.
    public struct Report: Equatable, Sendable {
        /// The number of Swift files that were read and checked.
        public var fileCount: Int
        /// The problems, sorted by file, line and column.
        public var problems: [ManifestProblem]
    }

    /// Checks the Swift files below a directory.
    ///
    /// - Parameters:
    ///   - directory: The root of the sources; names that begin with a dot are skipped.
    ///   - manifests: Manifests whose identifiers are compared with those in the sources; if empty,
    ///     identifiers are not checked.
    /// - Returns: The problems found. A file that can't be read is a problem, too.
    /// - Throws: ``AuthoringError`` if a directory can't be read, or if there are no Swift files.
    public static func lint(sources directory: String, manifests: [String]) throws(AuthoringError) -> Report {
        let (files, unread) = try read(directory)
        var problems = unread
        let declared = manifests.flatMap(ManifestLinter.declarations)
        let parts = SessionParts(sources: directory, declared)
        for file in files { problems += SourceRules(file, parts).problems() }
        problems += EntryPoints.problems(files)
        if !declared.isEmpty {
            problems += IdentifierCheck(declared: declared, uses: SourceUses.all(in: files)).problems()
        }
        problems.sort {
            ($0.file, $0.line ?? 0, $0.column ?? 0, $0.finding)
                < ($1.file, $1.line ?? 0, $1.column ?? 0, $1.finding)
        }
        return Report(fileCount: files.count, problems: problems)
    }

    /// Every place in a directory's sources that registers or requests an identifier.
    static func uses(in directory: String) throws(AuthoringError) -> [SourceUse] {
        SourceUses.all(in: try read(directory).files)
    }

    /// Every place in a directory's sources that makes a background session or handles its events.
    static func sessions(in directory: String) throws(AuthoringError) -> [SourceUse] {
        SourceUses.sessions(in: try read(directory).files)
    }

    private static func read(_ directory: String) throws(AuthoringError)
        -> (files: [SwiftFile], unread: [ManifestProblem])
    {
        let paths: [String]
        do {
            paths = try SourceTree.files(in: directory)
        } catch {
            throw AuthoringError(directory, "\(error)", "Give the directory of the Swift sources")
        }
        guard !paths.isEmpty else {
            throw AuthoringError(
                directory, "it contains no Swift files", "Give the directory of the Swift sources")
        }
        var files: [SwiftFile] = []
        var unread: [ManifestProblem] = []
        for path in paths {
            do {
                let bytes = try FileContents.read(path, limit: maximumSize)
                if bytes.count > maximumSize {
                    unread.append(
                        ManifestProblem(
                            severity: .warning, file: path,
                            finding: "it is larger than 4 MiB and was not read"
                        ))
                } else {
                    files.append(SwiftFile(path: path, bytes: bytes))
                }
            } catch {
                unread.append(
                    ManifestProblem(
                        severity: .warning, file: path, finding: "it can't be read: \(error)",
                        remedy: "Remove it, or make it readable"))
            }
        }
        return (files, unread)
    }
}
