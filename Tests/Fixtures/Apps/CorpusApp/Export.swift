import BackgroundTasks

// A task that the user began and watches: its handler is registered for a wildcard.
enum Export {
    static func registerTask() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.corpus.export.*", using: nil) {
            task in
            guard let task = task as? BGContinuedProcessingTask else { return }
            var wasExpired = false
            task.expirationHandler = { wasExpired = true }

            let progress = task.progress
            progress.totalUnitCount = 20
            for photo in 1...20 where !wasExpired {
                Thread.sleep(forTimeInterval: 0.01)
                progress.completedUnitCount += 1
                task.updateTitle(task.title, subtitle: "\(photo) of 20 photos")
            }
            print("exported \(task.subtitle), finished: \(progress.isFinished)")
            task.setTaskCompleted(success: !wasExpired)
        }
    }
}
