import StrictFiles
import TaskModel

/// Checks that each `onFailure:` names a task that can be submitted for a failure.
struct FailureReader {
    /// All tasks of the manifest.
    let tasks: [ReadTask]
    let problems: ProblemList

    func check() {
        for task in tasks {
            guard let target = task.declaration.onFailure, let place = task.onFailurePlace else { continue }
            check(target, of: task, at: place)
        }
    }

    private func check(_ target: TaskIdentifier, of task: ReadTask, at place: Place) {
        if task.declaration.pattern.matches(target) {
            return problems.error(
                place, "onFailure: '\(target)' is the task itself",
                "Name another task, or try the same one again with 'retry'")
        }
        guard let found = tasks.first(where: { $0.declaration.pattern.description == target.rawValue })
        else {
            return problems.error(
                place, "onFailure: this manifest has no task '\(target)'",
                "Correct the name, or add a task with this identifier; tasks of other bundles can't be named")
        }
        // Continued tasks start when a user asks for them; of other kinds, only processing can have a queue.
        if found.declaration.kind != .processing || found.declaration.queue == nil {
            return problems.error(
                place,
                "onFailure: '\(target)' must be of the kind processing and have a queue, because each failure is "
                    + "a request of its own",
                "Add 'queue: {}' to that task")
        }
        for (key, type) in found.declaration.payload.sorted(by: { $0.key < $1.key }) {
            guard let known = FailureSubmission.keys[key] else {
                if found.declaration.requiredPayload[key] == nil { continue }
                problems.error(
                    place,
                    "onFailure: '\(target)' declares the payload key '\(key)', which the record of a "
                        + "launch does not have",
                    "Use " + FailureSubmission.keys.keys.sorted().joined(separator: ", "))
                continue
            }
            if known == type || (known == .integer && type == .number) { continue }
            problems.error(
                place,
                "onFailure: '\(target)' declares the payload key '\(key)' as \(type.rawValue); in the "
                    + "record of a launch, it is of type \(known.rawValue)",
                "Declare it as \(known.rawValue)")
        }
    }
}
