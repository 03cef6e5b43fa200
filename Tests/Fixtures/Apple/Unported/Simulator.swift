import BackgroundTasks

func submit() throws {
    #if targetEnvironment(simulator)
        throw BGTaskScheduler.Error(.unavailable)
    #endif
    let request = BGAppRefreshTaskRequest(identifier: "com.example.feed.unheard")
    scheduler.register(forTaskWithIdentifier: name(), using: nil) { _ in }
}
