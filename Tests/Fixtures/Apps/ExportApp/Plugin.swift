import BackgroundTasks

// Continued tasks. The last label of an identifier selects how the progress grows: `steady`, `still-40`
// (stops at 40 of 100) or `slowing`.
@main
struct ExportPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: "org.example.export.jobs.*", using: nil) { task in
            guard let task = task as? BGContinuedProcessingTask else { return }
            print("the wildcard's handler has \(task.identifier)")
            run(task)
        }
        scheduler.register(forTaskWithIdentifier: "org.example.export.jobs.special", using: nil) { task in
            print("the exact handler has \(task.identifier)")
            task.setTaskCompleted(success: true)
        }
    }

    private static func run(_ task: BGContinuedProcessingTask) {
        task.expirationHandler = {
            print("expires: \(task.expirationReason?.rawValue ?? "no reason")")
            task.setTaskCompleted(success: false)
        }
        let words = task.identifier.split(separator: ".").last?.split(separator: "-") ?? []
        task.progress.totalUnitCount = 1_000_000
        switch words.first {
        case "still":
            task.progress.totalUnitCount = 100
            task.progress.completedUnitCount = words.last.flatMap { Int64($0) } ?? 0
        case "slowing":
            Thread.detachNewThread {
                while true {
                    // The progress grows by 100 units at a time for two seconds, then by one unit.
                    let isEarly = task.progress.completedUnitCount < 4000
                    task.progress.completedUnitCount += isEarly ? 100 : 1
                    Thread.sleep(forTimeInterval: 0.05)
                }
            }
        default:
            Thread.detachNewThread {
                while true {
                    task.progress.completedUnitCount += 1
                    Thread.sleep(forTimeInterval: 0.05)
                }
            }
        }
    }
}
