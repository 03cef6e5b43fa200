import BackgroundTasks

// A task of a health study, with Swift concurrency.
final class Study {
    func registerTasks() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.corpus.study", using: .main) {
            task in
            guard let task = task as? BGHealthResearchTask else { return }
            let work = Task {
                let samples = await Self.samples()
                print("samples: \(samples), on the main thread: \(Thread.isMainThread)")
                task.setTaskCompleted(success: !Task.isCancelled)
            }
            task.expirationHandler = { work.cancel() }
        }
    }

    func schedule() {
        let request = BGHealthResearchTaskRequest(identifier: "org.example.corpus.study")
        request.protectionTypeOfRequiredData = .complete
        request.requiresExternalPower = true
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch let error as BGTaskScheduler.Error {
            switch error.code {
            case .notPermitted: print("The study is not permitted: \(error)")
            default: print("Could not schedule the study: \(error)")
            }
        } catch {
            print("Unknown error: \(error)")
        }
    }

    private static func samples() async -> Int { 12 }
}
