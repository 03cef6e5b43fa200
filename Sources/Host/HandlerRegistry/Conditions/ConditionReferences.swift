import StrictFiles
import TaskModel

/// Finds tasks that require a condition which no file defines.
///
/// Such a task waits until a file defines the condition.
enum ConditionReferences {
    /// A warning for each undefined name, at its position in the manifest.
    static func problems(in entries: [ManifestConflicts.Entry], defined: Set<String>) -> [ManifestProblem] {
        entries.flatMap { entry in
            zip(entry.read.manifest.tasks, entry.read.conditionPlaces).flatMap { task, places in
                zip(task.requiredConditions, places).compactMap { name, place in
                    if defined.contains(name) { return nil }
                    let match = Nearest.match(name, in: defined.sorted())
                    return ManifestProblem(
                        severity: .warning, file: entry.file, line: place.line, column: place.column,
                        finding: "no file in conditions.d defines '\(name)', so \(task.pattern) waits",
                        remedy: match.map { "Did you mean '\($0)'?" }
                            ?? "Add a file there that begins with 'apiVersion: bgtask/v1' and 'condition: \(name)'"
                    )
                }
            }
        }
    }
}
