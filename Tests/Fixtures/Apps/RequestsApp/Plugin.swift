import BackgroundTasks

// Less common requests: those that are new in iOS 27, those of health research, and one that continues from
// a checkpoint, which only bgtask has.
@main
struct RequestsPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        register("later") { task in
            Task {
                let request = BGAppRefreshTaskRequest(identifier: "org.example.requests.refresh")
                request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
                do {
                    try await scheduler.submitTaskRequest(request)
                    print("submitted \(await scheduler.pendingTaskRequests().map(\.identifier))")
                } catch {
                    print("refused: \(error)")
                }
                do {
                    try await scheduler.submitTaskRequest(
                        BGProcessingTaskRequest(identifier: "org.example.elsewhere"))
                } catch BGTaskScheduler.Error.notPermitted {
                    print("elsewhere is not permitted")
                }
                scheduler.cancelAllTaskRequests()
                scheduler.submitTaskRequest(request) { error in
                    print("called back, error: \(error.map { "\($0)" } ?? "none")")
                    task.setTaskCompleted(success: true)
                }
                request.earliestBeginDate = nil
            }
        }
        register("lists") { task in
            scheduler.getPendingTaskRequests { requests in
                for case let request as BGContinuedProcessingTaskRequest in requests {
                    print("pending: \(request.title), \(request.subtitle)")
                }
                task.setTaskCompleted(success: true)
            }
        }
        register("refresh") { $0.setTaskCompleted(success: true) }
        register("resumes") { task in
            task.endUnfinished()
            let place = task.checkpoint.map { String(decoding: $0, as: UTF8.self) } ?? "the start"
            task.expirationHandler = {
                task.checkpoint = Data("the middle".utf8)
                task.endUnfinished()
                task.setTaskCompleted(success: true)
            }
            print("attempt \(task.attempt) from \(place)")
            if task.attempt > 1 { task.setTaskCompleted(success: true) }
        }
        register("study") { task in
            print("a \(type(of: task))")
            let request = BGHealthResearchTaskRequest(identifier: task.identifier)
            request.protectionTypeOfRequiredData = .complete
            request.requiresExternalPower = true
            request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
            do {
                try scheduler.submit(request)
            } catch {
                print("refused: \(error)")
            }
            scheduler.getPendingTaskRequests { requests in
                for case let request as BGHealthResearchTaskRequest in requests {
                    print("pending \(request.identifier), power \(request.requiresExternalPower)")
                }
                task.setTaskCompleted(success: true)
            }
        }
    }

    private static func register(_ name: String, _ handler: @escaping (BGTask) -> Void) {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "org.example.requests.\(name)", using: nil, launchHandler: handler)
    }
}
