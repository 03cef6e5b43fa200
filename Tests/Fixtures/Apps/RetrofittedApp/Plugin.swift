import BackgroundTasks

private let worker = Worker()

@main
struct RetrofittedPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        worker.start()
    }
}
