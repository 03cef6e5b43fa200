import Foundation

/// A launch by the runner: the app's own launch code, then what it was launched for.
enum LaunchedApp {
    /// Runs the launch on the main thread; returns when the process may end.
    static func run(_ host: RunnerHost) {
        App.shared.adopt(host)
        guard let main = AppImage.main(of: host) else {
            misuse(
                "NSInternalInconsistencyException",
                "The plugin has no launch code: neither an @main type nor a top-level main. Write "
                    + "'@main struct MyPlugin: BackgroundPlugin' with registerHandlers(with:), or keep the app's own "
                    + "@main App or AppDelegate.")
        }
        // Whatever launch code does that never returns to us (dispatchMain, a run loop of its own) drains the main
        // queue, and then it has finished launching.
        DispatchQueue.main.async { MainActor.assumeIsolated { finishLaunching() } }
        var arguments: [UnsafeMutablePointer<CChar>?] = [nil]
        _ = main(0, &arguments)
        MainActor.assumeIsolated {
            finishLaunching()
            MainLoop.runUntilEnded()
        }
    }

    /// Closes registration and does what the process was launched for; later calls do nothing.
    ///
    /// - Parameter enterBackground: What the app does when it leaves the foreground: called at an app launch.
    @MainActor
    static func finishLaunching(enterBackground: (@MainActor () -> Void)? = nil) {
        let app = App.shared
        guard app.finishLaunching(), let host = app.host as? RunnerHost else { return }
        switch host.launch.kind {
        case .appLaunch:
            enterBackground?()
            MainLoop.end(host, afterQuiet: appLaunchTime)
        case .appRefresh, .processing, .continuedProcessing, .push, .transferEvents, .activity:
            start(host)
        }
    }

    /// How long an app goes on after its entry into the background, for what it began there: Apple gives about 5 s
    /// before it suspends; here nothing is suspended, and a second is enough to submit in.
    static let appLaunchTime = 1.0

    private static func start(_ host: RunnerHost) {
        guard let task = App.shared.launch(host.launch, over: host) else {
            misuse("NSInternalInconsistencyException", App.noHandler(host.launch.identifier))
        }
        task.running.whenCompleted { _ in MainLoop.end() }
    }
}
