import StrictFiles
import TaskModel

/// Finds tasks that depend on a condition which no file defines.
///
/// Such a task waits until a file defines the condition.
enum ConditionReferences {
    /// A warning for each undefined name, at its position in the manifest.
    static func problems(in entries: [ManifestConflicts.Entry], defined: Set<String>) -> [ManifestProblem] {
        var problems: [ManifestProblem] = []
        for entry in entries {
            for (index, task) in entry.read.manifest.tasks.enumerated() {
                var names = Array(zip(task.requiredConditions, entry.read.conditionPlaces[index]))
                if let place = entry.read.constraintPlaces[index].when, let when = task.constraints?.when {
                    names += when.conditionNames.map { ($0, place) }
                }
                for (name, place) in names where !defined.contains(name) {
                    let match = Nearest.match(name, in: defined.sorted())
                    problems.append(
                        ManifestProblem(
                            severity: .warning, file: entry.file, line: place.line, column: place.column,
                            finding: "no file in conditions.d defines '\(name)', so \(task.pattern) waits",
                            remedy: match.map { "Did you mean '\($0)'?" }
                                ?? "Add a file there that begins with 'apiVersion: bgtask/v1' and 'condition: \(name)'"
                        ))
                }
            }
        }
        return problems
    }
}
