import BackgroundTasks
import UIKit

// Handlers that submit; each tests one of Apple's rules of submitting.
@main
struct SubmittingPlugin: BackgroundPlugin {
    static let bundle = "org.example.submitting"

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        // Identifiers that are submitted and never launched, if the manifest permits them.
        for number in 1...11 { register("wait\(number)") { $0.setTaskCompleted(success: true) } }
        for number in 1...3 { register("feed\(number)") { $0.setTaskCompleted(success: true) } }
        register("fill") { task in
            print("\((1...11).filter { submits(processing("wait\($0)")) }.count) of 11 were taken")
            print("a pending one is replaced: \(submits(processing("wait1")))")
            task.setTaskCompleted(success: true)
        }
        register("feeds") { task in
            print("\((1...3).filter { submits(refresh("feed\($0)")) }.count) of 3 were taken")
            task.setTaskCompleted(success: true)
        }
        register("replace") { task in
            let request = processing("wait1")
            _ = submits(request)
            request.requiresExternalPower = true
            _ = submits(request)
            request.requiresExternalPower = false
            request.earliestBeginDate = nil
            task.setTaskCompleted(success: true)
        }
        register("plan") { task in
            let floor = Date(timeIntervalSinceNow: 2)
            for request in [BGProcessingTaskRequest(identifier: "\(bundle).later"), refresh("laterFeed")] {
                request.earliestBeginDate = floor
                _ = submits(request)
            }
            print("not before: \(floor.timeIntervalSince1970)")
            task.setTaskCompleted(success: true)
        }
        for name in ["later", "laterFeed"] {
            register(name) { task in
                print("begins: \(Date().timeIntervalSince1970)")
                scheduler.getPendingTaskRequests { pending in
                    print(
                        "pending while it runs: \(pending.filter { $0.identifier == task.identifier }.count)")
                    task.setTaskCompleted(success: true)
                }
            }
        }
        register("again") { task in
            _ = submits(processing("again"))
            task.setTaskCompleted(success: false)
        }
        register("asynchronous") { task in
            Task {
                do {
                    try await scheduler.submitTaskRequest(processing("wait1"))
                    print("submitted")
                    try await scheduler.submitTaskRequest(refresh("unknown"))
                } catch BGTaskScheduler.Error.notPermitted {
                    print("and refused")
                }
                task.setTaskCompleted(success: true)
            }
        }
        // A task that a user starts runs even if the app may not refresh in the background.
        scheduler.register(forTaskWithIdentifier: "\(bundle).export.*", using: nil) { task in
            _ = submits(refresh("feed1"))
            _ = submits(processing("wait1"))
            _ = submits(
                BGContinuedProcessingTaskRequest(
                    identifier: "\(bundle).export.album", title: "Album", subtitle: "12 photos"))
            let status = UIApplication.shared.backgroundRefreshStatus
            print(
                "status: \(status == .available ? "available" : status == .denied ? "denied" : "restricted")")
            task.setTaskCompleted(success: true)
        }
    }

    private static func register(_ name: String, _ handler: @escaping (BGTask) -> Void) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "\(bundle).\(name)", using: nil, launchHandler: handler)
    }

    private static func processing(_ name: String) -> BGProcessingTaskRequest {
        let request = BGProcessingTaskRequest(identifier: "\(bundle).\(name)")
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        return request
    }

    private static func refresh(_ name: String) -> BGTaskRequest {
        let request = BGAppRefreshTaskRequest(identifier: "\(bundle).\(name)")
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        return request
    }

    /// Submits a request, and prints the name of its error if it is refused.
    private static func submits(_ request: BGTaskRequest) -> Bool {
        do {
            try BGTaskScheduler.shared.submit(request)
            return true
        } catch let error as BGTaskScheduler.Error {
            print("\(request.identifier): \(error.code), \(error.localizedDescription)")
        } catch {
            print("otherwise: \(error)")
        }
        return false
    }
}
