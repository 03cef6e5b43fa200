import BackgroundTasks

// Activities of ProcessInfo that keep the process alive.
@main
struct ProcessActivitiesPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        let process = ProcessInfo.processInfo
        // This activity finishes by itself, after the task has completed.
        register("finishes") { task in
            process.performExpiringActivity(withReason: "flush") { expired in
                print("flush, expired: \(expired)")
                task.setTaskCompleted(success: true)
                Thread.sleep(forTimeInterval: 0.3)
                print("flushed")
            }
        }
        // This activity continues until it expires.
        register("expires") { task in
            let isOver = DispatchSemaphore(value: 0)
            process.performExpiringActivity(withReason: "upload") { expired in
                print("upload, expired: \(expired)")
                if expired {
                    isOver.signal()
                } else {
                    task.setTaskCompleted(success: true)
                    isOver.wait()
                    print("upload stops")
                }
            }
        }
        // An activity that begins after the launch has expired is expired from its start.
        register("late") { task in
            task.expirationHandler = {
                process.performExpiringActivity(withReason: "too late") { expired in
                    print("too late, expired: \(expired)")
                    task.setTaskCompleted(success: false)
                }
            }
            print("waits")
        }
        register("begins") { task in
            nonisolated(unsafe) let activity = process.beginActivity(options: .background, reason: "sync")
            process.performActivity(options: .userInitiated, reason: "count") { print("counted") }
            task.setTaskCompleted(success: true)
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) {
                print("synchronized")
                process.endActivity(activity)
                process.endActivity(activity)
            }
        }
    }

    private static func register(_ name: String, _ handler: @escaping (BGTask) -> Void) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "org.example.processactivities.\(name)", using: nil, launchHandler: handler
        )
    }
}
