import BackgroundTasks

// Work at intervals, as on macOS.
enum Tidying {
    static func schedule() -> NSBackgroundActivityScheduler {
        let activity = NSBackgroundActivityScheduler(identifier: "org.example.corpus.tidy")
        activity.repeats = true
        activity.interval = 60 * 60
        activity.tolerance = 15 * 60
        activity.qualityOfService = .background
        activity.schedule { completion in
            if activity.shouldDefer {
                completion(.deferred)
                return
            }
            print("tidied")
            completion(.finished)
        }
        return activity
    }
}
