import BackgroundTasks

final class Export {
    var observation: NSKeyValueObservation?

    func start(_ action: Selector) throws {
        observation = observe(\.count) { _, _ in }
        Timer.scheduledTimer(timeInterval: 1, target: self, selector: action, userInfo: nil, repeats: true)
        let request = BGContinuedProcessingTaskRequest(
            identifier: "org.example.export.1", title: "", subtitle: "")
        try BGTaskScheduler.shared.submit(request)
    }
}

#if !os(Linux)
    extension AppDelegate {
        func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {}
    }
#endif
