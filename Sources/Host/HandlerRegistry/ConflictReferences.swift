import StrictFiles
import TaskModel

/// Finds conflicts with tasks that a manifest does not have.
///
/// Whether tasks of other bundles exist is not checked, because they may be installed later. But these
/// tasks wait for launches of this bundle, so the author should mean it.
enum ConflictReferences {
    /// A warning for each identifier of a manifest's own bundle that the manifest does not permit, and for
    /// each one of another bundle.
    static func problems(in entries: [ManifestConflicts.Entry]) -> [ManifestProblem] {
        var problems: [ManifestProblem] = []
        for entry in entries {
            let tasks = entry.read.manifest.tasks
            for (task, places) in zip(tasks, entry.read.constraintPlaces) {
                for (other, place) in zip(task.constraints?.conflicts ?? [], places.conflicts) {
                    if isForeign(other, to: entry.read.manifest) {
                        problems.append(
                            ManifestProblem(
                                severity: .warning, file: entry.file, line: place.line, column: place.column,
                                finding: "conflicts: '\(other)' can be a task of another bundle, which then "
                                    + "waits while '\(task.pattern)' runs",
                                remedy:
                                    "Keep it if the tasks use the same data. The host stops a launch that "
                                    + "holds another bundle for longer than scheduling.conflictLimit"))
                        continue
                    }
                    guard isMissing(other, in: entry.read.manifest) else { continue }
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

    /// Whether a pattern can match tasks of other bundles.
    ///
    /// Lint can't know whether the author means those.
    private static func isForeign(_ other: IdentifierPattern, to manifest: Manifest) -> Bool {
        let (name, bundle) = (other.base.rawValue, manifest.bundle.rawValue)
        if name == bundle || name.hasPrefix(bundle + ".") { return false }
        return !manifest.tasks.contains { $0.pattern == other }
    }

    private static func isMissing(_ other: IdentifierPattern, in manifest: Manifest) -> Bool {
        guard !other.isWildcard, other.base.rawValue.hasPrefix(manifest.bundle.rawValue + ".") else {
            return false
        }
        return !manifest.tasks.contains { $0.pattern.matches(other.base) }
    }
}
