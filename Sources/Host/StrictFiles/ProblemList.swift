public import TaskModel

/// How messages refer to a kind of file, and what they advise.
public struct FileKind: Sendable {
    /// The plural, capitalized for the start of a sentence, such as `Manifests`.
    public let plural: String
    /// The advice for an empty file; `nil` if an empty file counts as an empty mapping.
    public let whenEmpty: String?
    /// The advice for a file that is too large.
    public let whenLarge: String

    public init(plural: String, whenEmpty: String?, whenLarge: String) {
        self.plural = plural
        self.whenEmpty = whenEmpty
        self.whenLarge = whenLarge
    }
}

/// Collects the problems with one file while it is read.
public final class ProblemList {
    /// The name of the file in messages.
    public let file: String
    /// The kind of the file.
    public let kind: FileKind
    /// The problems, in the order in which they were found.
    public private(set) var problems: [ManifestProblem] = []

    /// Creates a list without problems.
    public init(file: String, kind: FileKind) {
        self.file = file
        self.kind = kind
    }

    /// Whether there is an error, so that the file must not be used.
    public var hasErrors: Bool { problems.contains { $0.severity == .error } }

    /// Adds an error: the file must not be used.
    public func error(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.error, place, finding, remedy)
    }

    /// Adds a warning: the file can be used.
    public func warning(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.warning, place, finding, remedy)
    }

    /// The problems in the order of their positions in the file.
    public var sorted: [ManifestProblem] {
        problems.sorted {
            ($0.line ?? 0, $0.column ?? 0, $0.finding) < ($1.line ?? 0, $1.column ?? 0, $1.finding)
        }
    }

    private func add(
        _ severity: ManifestProblem.Severity, _ place: Place?, _ finding: String, _ remedy: String?
    ) {
        problems.append(
            ManifestProblem(
                severity: severity, file: file, line: place?.line, column: place?.column, finding: finding,
                remedy: remedy))
    }
}
