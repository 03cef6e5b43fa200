import BackgroundTasks

// Activities that end in different ways; the app schedules only those that the manifest permits.
@main
struct ActivityPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        schedule("hourly", repeats: true) { _, completion in completion(.finished) }
        schedule("once") { _, completion in completion(.finished) }
        schedule("heeds", repeats: true) { activity, completion in
            print("runs")
            while !activity.shouldDefer { Thread.sleep(forTimeInterval: 0.02) }
            print("defers")
            completion(.deferred)
        }
        schedule("deaf", repeats: true) { activity, completion in
            print("runs")
            while !activity.shouldDefer { Thread.sleep(forTimeInterval: 0.02) }
            print("should defer, and goes on")
            Thread.sleep(forTimeInterval: 60)
            completion(.finished)
        }
        schedule("forgets", repeats: true) { _, _ in print("says nothing") }
        schedule("invalidates", repeats: true) { activity, completion in
            activity.invalidate()
            print("still runs")
            completion(.finished)
        }
    }

    private static func schedule(
        _ name: String, repeats: Bool = false,
        _ block:
            @escaping (
                NSBackgroundActivityScheduler, @escaping NSBackgroundActivityScheduler.CompletionHandler
            )
            -> Void
    ) {
        let identifier = "org.example.activity.\(name)"
        let permitted =
            Bundle.main.object(forInfoDictionaryKey: "BGTaskSchedulerPermittedIdentifiers") as? [String]
        guard permitted?.contains(identifier) == true else { return }
        let activity = NSBackgroundActivityScheduler(identifier: identifier)
        activity.repeats = repeats
        activity.interval = 3600
        activity.tolerance = 600
        activity.schedule { completion in block(activity, completion) }
    }
}
