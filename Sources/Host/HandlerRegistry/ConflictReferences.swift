import StrictFiles
import TaskModel

/// Finds conflicts with tasks that a manifest does not have.
///
/// Tasks of other bundles are not checked, because they may be installed later.
enum ConflictReferences {
    /// A warning for each identifier of a manifest's own bundle that the manifest does not permit.
    static func problems(in entries: [ManifestConflicts.Entry]) -> [ManifestProblem] {
        var problems: [ManifestProblem] = []
        for entry in entries {
            let tasks = entry.read.manifest.tasks
            for (task, places) in zip(tasks, entry.read.constraintPlaces) {
                for (other, place) in zip(task.constraints?.conflicts ?? [], places.conflicts)
                where isMissing(other, in: entry.read.manifest) {
                    let names = tasks.map(\.pattern).filter { $0 != task.pattern }.map(\.description)
                    let match = Nearest.match(other.description, in: names)
                    problems.append(
                        ManifestProblem(
                            severity: .warning, file: entry.file, line: place.line, column: place.column,
                            finding: "conflicts: this manifest has no task '\(other)'",
                            remedy: match.map { "Did you mean '\($0)'?" }
                                ?? "Correct the identifier, or remove it"))
                }
            }
        }
        return problems
    }

    private static func isMissing(_ other: IdentifierPattern, in manifest: Manifest) -> Bool {
        guard !other.isWildcard, other.base.rawValue.hasPrefix(manifest.bundle.rawValue + ".") else {
            return false
        }
        return !manifest.tasks.contains { $0.pattern.matches(other.base) }
    }
}
