import BackgroundTasks
import UIKit

// One task for each rule that ends a process or that decides how a launch ends.
@main
struct RulesPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        if FileManager.default.fileExists(atPath: "twice") {
            scheduler.register(forTaskWithIdentifier: "org.example.rules.succeed", using: nil) { _ in }
        }
        register("late") { task in
            scheduler.register(forTaskWithIdentifier: "org.example.rules.export.late", using: nil) { _ in }
            print("a continued one may come late")
            scheduler.register(forTaskWithIdentifier: "org.example.rules.unregistered", using: nil) { _ in }
            task.setTaskCompleted(success: true)
        }
        register("submitUnregistered") { task in
            try? scheduler.submit(BGAppRefreshTaskRequest(identifier: "org.example.rules.unregistered"))
            task.setTaskCompleted(success: true)
        }
        register("succeed") { task in
            print("on the main thread: \(Thread.isMainThread)")
            task.setTaskCompleted(success: true)
        }
        for name in ["first", "second"] { register(name) { $0.setTaskCompleted(success: true) } }
        register("limits") { task in
            let first = BGAppRefreshTaskRequest(identifier: "org.example.rules.first")
            first.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
            do {
                try scheduler.submit(first)
                try scheduler.submit(first)
                print("submitted twice")
                try scheduler.submit(BGAppRefreshTaskRequest(identifier: "org.example.rules.second"))
                print("no limit")
            } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
                print("the limit is reached")
            } catch {
                print("otherwise: \(error)")
            }
            scheduler.getPendingTaskRequests { pending in
                print("pending: \(pending.count)")
                scheduler.cancelAllTaskRequests()
                scheduler.getPendingTaskRequests { left in
                    print("left: \(left.count)")
                    task.setTaskCompleted(success: true)
                }
            }
        }
        register("fail") { $0.setTaskCompleted(success: false) }
        register("deaf") { _ in Thread.sleep(forTimeInterval: 60) }
        for name in ["obey", "lease"] {
            register(name) { task in
                task.expirationHandler = {
                    print(
                        "expires: \(task.expirationReason?.rawValue ?? "no reason"), handler cleared: \(task.expirationHandler == nil)"
                    )
                    print("time left: \((task.deadline?.timeIntervalSinceNow ?? 0) > 0)")
                    task.setTaskCompleted(success: false)
                }
                print("listens")
            }
        }
        register("finish") { task in
            task.expirationHandler = { task.setTaskCompleted(success: true) }
            print("listens")
        }
        register("stubborn") { task in task.expirationHandler = { print("heard it, and go on") } }
        register("checkpoint") { task in
            let before = task.checkpoint.map { String(decoding: $0, as: UTF8.self) } ?? "none"
            print("attempt \(task.attempt), checkpoint \(before)")
            guard task.attempt == 1 else { return task.setTaskCompleted(success: true) }
            task.checkpoint = Data("half".utf8)
            task.expirationHandler = { exit(0) }
        }
        register("leak") { task in
            _ = UIApplication.shared.beginBackgroundTask(withName: "upload") { print("upload's time is up") }
            task.setTaskCompleted(success: true)
        }
        register("hold") { task in
            for _ in 0...1000 { _ = UIApplication.shared.beginBackgroundTask(withName: "many") {} }
            task.setTaskCompleted(success: true)
        }
        scheduler.register(
            forTaskWithIdentifier: "org.example.rules.busy", using: DispatchQueue(label: "busy")
        ) { task in
            task.expirationHandler = {
                print("heard on another queue")
                task.setTaskCompleted(success: false)
            }
            Thread.sleep(forTimeInterval: 60)
        }
        scheduler.register(forTaskWithIdentifier: "org.example.rules.export.*", using: nil) { task in
            let task = task as! BGContinuedProcessingTask
            let child = Progress(totalUnitCount: 100)
            task.progress.totalUnitCount = 2
            task.progress.addChild(child, withPendingUnitCount: 2)
            task.expirationHandler = {
                print(
                    "cancelled: \(task.progress.isCancelled), reason \(task.expirationReason?.rawValue ?? "none")"
                )
                task.setTaskCompleted(success: false)
            }
            child.completedUnitCount = 30
        }
    }

    private static func register(_ name: String, _ handler: @escaping (BGTask) -> Void) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "org.example.rules.\(name)", using: nil, launchHandler: handler)
    }
}
