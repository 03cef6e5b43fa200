import TaskModel

/// A manifest as a log contains it: each run of tasks that differ only in their identifiers is one
/// declaration with a list of identifiers.
///
/// A manifest with 1,000 tasks of one sort then takes some 15 bytes for a task instead of 500.
struct CompactManifest: Codable {
    private struct Run: Codable {
        /// The first task of the run.
        var task: TaskDeclaration
        /// The identifiers of the other tasks.
        var others: [IdentifierPattern]
    }

    /// The manifest, without its tasks.
    private var manifest: Manifest
    private var runs: [Run] = []

    init(_ manifest: Manifest) {
        self.manifest = manifest
        self.manifest.tasks = []
        for task in manifest.tasks {
            if let last = runs.last, task.isLike(last.task) {
                runs[runs.count - 1].others.append(task.pattern)
            } else {
                runs.append(Run(task: task, others: []))
            }
        }
    }

    /// The manifest with all its tasks, in their order.
    var whole: Manifest {
        var whole = manifest
        for run in runs {
            whole.tasks.append(run.task)
            for pattern in run.others {
                var task = run.task
                task.pattern = pattern
                whole.tasks.append(task)
            }
        }
        return whole
    }
}

extension TaskDeclaration {
    /// Whether another declaration differs only in its identifiers.
    fileprivate func isLike(_ other: TaskDeclaration) -> Bool {
        var copy = self
        copy.pattern = other.pattern
        return copy == other
    }
}
