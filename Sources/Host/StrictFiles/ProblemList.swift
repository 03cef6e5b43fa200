public import TaskModel

/// What a kind of file calls itself in messages, and what to do about an unfit one.
public struct FileKind: Sendable {
    /// `Manifests`, at the beginning of a sentence.
    public let plural: String
    /// What to do about an empty file; `nil` if one is as good as an empty mapping.
    public let whenEmpty: String?
    /// What to do about one that is too large.
    public let whenLarge: String

    public init(plural: String, whenEmpty: String?, whenLarge: String) {
        self.plural = plural
        self.whenEmpty = whenEmpty
        self.whenLarge = whenLarge
    }
}

/// Collects what is wrong with one file while it is read.
public final class ProblemList {
    /// The file, as messages name it.
    public let file: String
    /// What the file is.
    public let kind: FileKind
    /// What was found, in the order of finding.
    public private(set) var problems: [ManifestProblem] = []

    /// Begins a file; nothing is wrong yet.
    public init(file: String, kind: FileKind) {
        self.file = file
        self.kind = kind
    }

    /// Whether the file must not be used.
    public var hasErrors: Bool { problems.contains { $0.severity == .error } }

    /// Notes what makes the file unfit.
    public func error(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.error, place, finding, remedy)
    }

    /// Notes what is odd and may stay.
    public func warning(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.warning, place, finding, remedy)
    }

    /// In the file's order, for people who go through it from the top.
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
