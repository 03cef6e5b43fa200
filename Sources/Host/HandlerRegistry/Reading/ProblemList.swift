import TaskModel

/// Collects what is wrong with one file while it is read.
final class ProblemList {
    let file: String
    private(set) var problems: [ManifestProblem] = []

    init(file: String) {
        self.file = file
    }

    /// Whether the manifest must not be used.
    var hasErrors: Bool { problems.contains { $0.severity == .error } }

    func error(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.error, place, finding, remedy)
    }

    func warning(_ place: Place?, _ finding: String, _ remedy: String?) {
        add(.warning, place, finding, remedy)
    }

    /// In the file's order, for people who go through it from the top.
    var sorted: [ManifestProblem] {
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
