import HandlerRegistry
import LinuxSystem
import StrictFiles
public import TaskModel

/// What `bgtask lint --sources` does: finds what compiles to nothing on Linux, what does not compile, and
/// identifiers that a manifest does not permit.
public enum SourceLinter {
    /// The largest source that is read: 4 MiB; larger ones are made by machines.
    private static let maximumSize = 4 << 20

    /// What was looked at and found.
    public struct Report: Equatable, Sendable {
        /// How many Swift files there were.
        public var fileCount: Int
        /// By file, line and column.
        public var problems: [ManifestProblem]
    }

    /// Looks through the Swift files of a directory.
    ///
    /// - Parameters:
    ///   - directory: Where they are; names that begin with a dot are left out.
    ///   - manifests: Files whose identifiers are held against those of the sources; none checks no
    ///     identifiers.
    /// - Returns: What was found; what can't be read is found too.
    /// - Throws: ``AuthoringError`` if the directory can't be read or has no Swift files.
    public static func lint(sources directory: String, manifests: [String]) throws(AuthoringError) -> Report {
        let (files, unread) = try read(directory)
        var problems = unread
        for file in files { problems += SourceRules(file).problems() }
        let declared = manifests.flatMap(ManifestLinter.declarations)
        if !declared.isEmpty {
            problems += IdentifierCheck(declared: declared, uses: SourceUses.all(in: files)).problems()
        }
        problems.sort {
            ($0.file, $0.line ?? 0, $0.column ?? 0, $0.finding)
                < ($1.file, $1.line ?? 0, $1.column ?? 0, $1.finding)
        }
        return Report(fileCount: files.count, problems: problems)
    }

    /// Where identifiers are registered and requested.
    static func uses(in directory: String) throws(AuthoringError) -> [SourceUse] {
        SourceUses.all(in: try read(directory).files)
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
