import BackgroundTasks

final class Worker {
    private let scheduler: TaskScheduling
    private let registerTask: (String, DispatchQueue?, @escaping (BGTask) -> Void) -> Bool
    private let queue = OperationQueue()

    init(scheduler: TaskScheduling = BGTaskScheduler.shared) {
        self.scheduler = scheduler
        registerTask = BGTaskScheduler.shared.register
    }

    func start() {
        scheduler.register(forTaskWithIdentifier: "org.example.retrofitted.refresh", using: nil) {
            [weak self] task in
            self?.refresh(task)
        }
        _ = registerTask("org.example.retrofitted.errors", DispatchQueue(label: "errors"), errors)
        _ = BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.retrofitted.list") { task in
            self.list(task)
        }
        if #available(iOS 26.0, *) {
            let unpermitted = scheduler.register(forTaskWithIdentifier: "org.example.other", using: nil) {
                _ in
            }
            print("unpermitted: \(unpermitted)")
            scheduler.register(forTaskWithIdentifier: "org.example.retrofitted.export.*", using: .main) {
                task in
                guard let task = task as? BGContinuedProcessingTask else { return }
                self.export(task)
            }
        }
    }

    private func refresh(_ task: BGTask) {
        let begun = Date()
        task.expirationHandler = { task.setTaskCompleted(success: false) }
        print("\(task.identifier) began \(begun.timeIntervalSince1970 > 0)")
        task.setTaskCompleted(success: true)
        task.setTaskCompleted(success: false)
    }

    private func errors(_ task: BGTask) {
        let wrong = BGAppRefreshTaskRequest(identifier: "org.example.other")
        do {
            try scheduler.submit(wrong)
        } catch BGTaskScheduler.Error.notPermitted {
            print("first idiom")
        } catch {
            print("not told: \(error)")
        }
        do {
            try scheduler.submit(wrong)
        } catch let error as BGTaskScheduler.Error where error.code == .notPermitted {
            print("second idiom, \(error.code)")
        } catch {
            print("not told: \(error)")
        }
        do {
            try scheduler.submit(wrong)
        } catch {
            let error = error as NSError
            if error.domain == BGTaskScheduler.errorDomain,
                let code = BGTaskScheduler.Error.Code(rawValue: error.code)
            {
                print("third idiom, \(code): \(error.localizedDescription)")
            }
        }
        task.setTaskCompleted(success: true)
    }

    private func list(_ task: BGTask) {
        let request = BGProcessingTaskRequest(identifier: "org.example.retrofitted.list")
        request.requiresExternalPower = true
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        try? scheduler.submit(request)
        request.requiresExternalPower = false
        Task {
            let pending = await BGTaskScheduler.shared.pendingTaskRequests()
            for request in pending {
                let power = (request as? BGProcessingTaskRequest)?.requiresExternalPower ?? false
                print(
                    "pending \(request.identifier), power \(power), later \(request.earliestBeginDate != nil)"
                )
            }
            scheduler.cancel(taskRequestWithIdentifier: "org.example.retrofitted.list")
            let left = await BGTaskScheduler.shared.pendingTaskRequests()
            print("left \(left.count)")
            task.setTaskCompleted(success: true)
        }
    }

    private func export(_ task: BGContinuedProcessingTask) {
        task.progress.totalUnitCount = 4
        let work = Cancellation()
        task.expirationHandler = { work.isCancelled = true }
        DispatchQueue.global().async {
            for step in 1...4 where !work.isCancelled {
                task.progress.completedUnitCount = Int64(step)
                task.updateTitle(task.title, subtitle: "\(step) of 4")
                Thread.sleep(forTimeInterval: 0.05)
            }
            task.setTaskCompleted(success: !work.isCancelled)
        }
    }
}

private final class Cancellation: @unchecked Sendable {
    var isCancelled = false
}
