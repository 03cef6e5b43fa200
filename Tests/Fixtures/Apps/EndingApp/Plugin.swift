import BackgroundTasks
import UIKit

// Handlers that print their thread, their remaining time, and the time that is left after completion.
@main
struct EndingPlugin: BackgroundPlugin {
    private static let own = DispatchQueue(label: "own")
    private static let key = DispatchSpecificKey<String>()

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        own.setSpecific(key: key, value: "own")
        for (name, queue) in [("none", nil), ("own", own), ("main", DispatchQueue.main)] {
            register("on.\(name)", using: queue) { task in
                print("handler on \(place())")
                task.expirationHandler = {
                    print("expiration on \(place())")
                    task.setTaskCompleted(success: false)
                }
                print("listens")
            }
        }
        for name in ["refresh", "work", "export.one"] {
            register("times.\(name)") { task in
                let seconds = task.deadline.map { "\(Int(($0.timeIntervalSinceNow + 1) / 10) * 10) s" }
                print("time: \(seconds ?? "without end")")
                task.setTaskCompleted(success: true)
            }
            register("stay.\(name)") { task in
                task.expirationHandler = {
                    print("expires: \(task.expirationReason?.rawValue ?? "no reason")")
                    task.setTaskCompleted(success: false)
                }
                print("stays")
                tellPriority()
            }
        }
        register("cleared") { task in
            let assertion = UIApplication.shared.beginBackgroundTask(withName: "look")
            task.expirationHandler = { print("it is called all the same") }
            print("set: \(task.expirationHandler != nil)")
            task.setTaskCompleted(success: true)
            task.setTaskCompleted(success: false)
            print("cleared: \(task.expirationHandler == nil)")
            UIApplication.shared.endBackgroundTask(assertion)
        }
        register("remaining") { task in
            let app = UIApplication.shared
            let first = app.beginBackgroundTask(withName: "first") {}
            print("unlimited while it runs: \(app.backgroundTimeRemaining == .greatestFiniteMagnitude)")
            task.setTaskCompleted(success: true)
            // The remaining time becomes finite once the main thread has handled the completion.
            while app.backgroundTimeRemaining == .greatestFiniteMagnitude { usleep(1000) }
            let before = app.backgroundTimeRemaining
            let second = app.beginBackgroundTask(withName: "second") {}
            let after = app.backgroundTimeRemaining
            print("then 30 s: \(before > 25 && before <= 30)")
            print("a second assertion adds nothing: \(after <= before && second != .invalid)")
            app.endBackgroundTask(first)
            app.endBackgroundTask(second)
        }
        register("crowd") { task in
            let app = UIApplication.shared
            for name in ["first", "second", "third"] {
                _ = app.beginBackgroundTask(withName: name) {
                    print("\(name) hears of it on the main thread: \(Thread.isMainThread)")
                }
            }
            task.expirationHandler = {
                print("too late: \(app.beginBackgroundTask(withName: "fourth") == .invalid)")
            }
            print("listens")
        }
    }

    private static func register(
        _ name: String, using queue: DispatchQueue? = nil, _ handler: @escaping (BGTask) -> Void
    ) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "org.example.ending.\(name)", using: queue, launchHandler: handler)
    }

    private static func place() -> String {
        if Thread.isMainThread { return "the main thread" }
        return DispatchQueue.getSpecific(key: key).map { "the queue '\($0)'" } ?? "a queue in the background"
    }

    /// Prints every change of the nice value, from a thread that does nothing else.
    private static func tellPriority() {
        Thread.detachNewThread {
            var last: Int32 = -100
            while true {
                let nice = getpriority(__priority_which_t(0), 0)
                if nice != last { print("nice \(nice)") }
                last = nice
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }
}
