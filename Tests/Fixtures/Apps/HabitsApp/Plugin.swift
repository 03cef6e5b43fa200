import BackgroundTasks
import OSLog

// Common habits of handlers on iOS, each in its own task.
@main
struct HabitsPlugin: BackgroundPlugin {
    static let bundle = "org.example.habits"

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        // The other tasks submit these tasks, and the host never launches them.
        for name in ["next", "hops", "timer", "queue"] { register("\(name)Next") { _ in } }

        // These tasks complete first, and then submit the next request from various places.
        register("next") { task in
            task.setTaskCompleted(success: true)
            submit("nextNext")
        }
        register("hops") { task in
            Task {
                for _ in 0..<1000 { await Task.yield() }
                submit("hopsNext")
            }
            task.setTaskCompleted(success: true)
        }
        register("timer") { task in
            Task {
                try? await Task.sleep(for: .milliseconds(100))
                submit("timerNext")
            }
            task.setTaskCompleted(success: true)
        }
        register("queue") { task in
            DispatchQueue.global(qos: .background).async {
                Thread.sleep(forTimeInterval: 0.1)
                DispatchQueue.main.async { submit("queueNext") }
            }
            task.setTaskCompleted(success: true)
        }

        register("defaults") { task in
            let word = UserDefaults.standard.string(forKey: "word") ?? "none"
            let other = UserDefaults(suiteName: "org.example.shared")?.string(forKey: "word") ?? "none"
            print("before: \(word), shared: \(other)")
            UserDefaults.standard.set("kept", forKey: "word")
            UserDefaults(suiteName: "org.example.shared")?.set("too", forKey: "word")
            task.setTaskCompleted(success: true)
        }
        register("folders") { task in
            let file = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("file")
            let isWritten = (try? Data("text".utf8).write(to: file)) != nil
            print("temporary: \(NSTemporaryDirectory()), written: \(isWritten)")
            print("environment: \(getenv("TMPDIR").map { String(cString: $0) } ?? "none")")
            print("manager: \(FileManager.default.temporaryDirectory.path)")
            print("home: \(NSHomeDirectory())")
            task.setTaskCompleted(success: true)
        }
        register("errors") { task in
            do {
                try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "\(bundle).unknown"))
            } catch {
                print("printed: \(error)")
                Logger(subsystem: bundle, category: "errors").error("logged: \(error)")
            }
            task.setTaskCompleted(success: true)
        }

        // These tasks never complete.
        register("deaf") { _ in print("deaf") }
        register("stuck") { task in
            task.expirationHandler = { DispatchQueue.main.async { task.setTaskCompleted(success: false) } }
            DispatchQueue.main.async { stuckOnMain() }
        }
        register("burnTask") { task in
            task.expirationHandler = { task.setTaskCompleted(success: false) }
            Task { burnInTask() }
        }
        register("burnQueue") { task in
            task.expirationHandler = { task.setTaskCompleted(success: false) }
            DispatchQueue.global().async { burnOnQueue() }
        }
    }

    private static func register(_ name: String, _ handler: @escaping (BGTask) -> Void) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "\(bundle).\(name)", using: nil, launchHandler: handler)
    }

    private static func submit(_ name: String) {
        let request = BGProcessingTaskRequest(identifier: "\(bundle).\(name)")
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("\(name): \(error.localizedDescription)")
        }
    }
}

@inline(never)
func burnInTask() {
    var sum: UInt64 = 0
    while sum < .max { sum &+= sum % 7 == 0 ? 2 : 1 }
}

@inline(never)
func burnOnQueue() {
    var sum: UInt64 = 0
    while sum < .max { sum &+= sum % 5 == 0 ? 2 : 1 }
}

@inline(never)
func stuckOnMain() {
    print("stuck")
    Thread.sleep(forTimeInterval: 600)
}
