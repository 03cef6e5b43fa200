import BackgroundTasks
import os.log

// Refresh on an operation queue, and a cleaning that is submitted at most once a week.
final class Feed {
    private let log = OSLog(subsystem: "org.example.corpus", category: "feed")

    func registerTasks() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.corpus.refresh", using: nil) {
            task in
            self.handleAppRefresh(task: task as! BGAppRefreshTask)
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.corpus.clean", using: nil) {
            task in
            self.handleCleaning(task: task as! BGProcessingTask)
        }
    }

    func scheduleRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: "org.example.corpus.refresh")
        // Fetch no earlier than 15 minutes from now.
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            os_log(.error, log: log, "Could not schedule app refresh: %{public}@", error.localizedDescription)
        }
    }

    func scheduleCleaningIfNeeded() {
        let lastClean = UserDefaults.standard.object(forKey: "lastClean") as? Date ?? .distantPast
        let oneWeek = TimeInterval(7 * 24 * 60 * 60)
        guard Date() > lastClean + oneWeek else { return }
        let request = BGProcessingTaskRequest(identifier: "org.example.corpus.clean")
        request.requiresNetworkConnectivity = false
        request.requiresExternalPower = true
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
            os_log("There is a cleaning already", log: log, type: .info)
        } catch {
            os_log("Could not schedule cleaning: %{public}@", log: log, type: .error, "\(error)")
        }
    }

    private func handleAppRefresh(task: BGAppRefreshTask) {
        scheduleRefresh()

        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = ["fetch", "parse", "store"].map { name in BlockOperation { print("feed: \(name)") } }
        for (next, operation) in zip(operations.dropFirst(), operations) { next.addDependency(operation) }
        let lastOperation = operations.last!

        task.expirationHandler = {
            // After all operations are cancelled, the completion block below completes the task.
            queue.cancelAllOperations()
        }
        lastOperation.completionBlock = {
            task.setTaskCompleted(success: !lastOperation.isCancelled)
        }
        queue.addOperations(operations, waitUntilFinished: false)
    }

    private func handleCleaning(task: BGProcessingTask) {
        let queue = OperationQueue()
        let cleaning = BlockOperation()
        cleaning.addExecutionBlock { [unowned cleaning] in
            print("cleaning")
            while !cleaning.isCancelled { usleep(10_000) }
        }
        task.expirationHandler = {
            queue.cancelAllOperations()
        }
        cleaning.completionBlock = {
            let success = !cleaning.isCancelled
            if success { UserDefaults.standard.set(Date(), forKey: "lastClean") }
            print("cleaned: \(success)")
            task.setTaskCompleted(success: success)
        }
        queue.addOperation(cleaning)
    }
}
