import Foundation

/// A launch by the runner: it runs the app's launch code, then the handler of the launch.
package enum LaunchedApp {
    /// Runs the launch on the main thread; returns when the process may end.
    static func run(_ host: RunnerHost) {
        App.shared.adopt(host)
        host.launch.dataDirectory.map(useAsHome)
        guard let main = AppImage.main(of: host) else {
            misuse(
                "NSInternalInconsistencyException",
                "The plugin has no launch code: neither an @main type nor a top-level main. Write "
                    + "'@main struct MyPlugin: BackgroundPlugin' with registerHandlers(with:), or keep the app's own "
                    + "@main App or AppDelegate.")
        }
        // Launch code may never return here, because it calls dispatchMain or runs a loop of its own. Then
        // this block runs on the main queue, and launching is finished.
        DispatchQueue.main.async { MainActor.assumeIsolated { finishLaunching() } }
        var arguments: [UnsafeMutablePointer<CChar>?] = [nil]
        _ = main(0, &arguments)
        MainActor.assumeIsolated {
            finishLaunching()
            MainLoop.runUntilEnded()
        }
    }

    /// Makes a directory the app's home, for documents, caches, support files and `UserDefaults`; an app on
    /// iOS has its own home, too.
    ///
    /// This must be called before any code of the app runs, because other threads may read the environment
    /// later.
    private static func useAsHome(_ directory: String) {
        for name in ["HOME", "CFFIXED_USER_HOME"] { setenv(name, directory, 1) }
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            unsetenv(name)
        }
    }

    /// Ends registration and runs what the process was launched for; only the first call has an effect.
    ///
    /// - Parameter callbacks: The functions of the app that can be called besides its handlers.
    @MainActor
    package static func finishLaunching(_ callbacks: AppCallbacks = AppCallbacks()) {
        let app = App.shared
        guard app.finishLaunching(), let host = app.host as? RunnerHost else { return }
        let launch = host.launch
        if launch.kind == .appLaunch {
            callbacks.enterBackground()
            DispatchQueue.main.asyncAfter(deadline: .now() + appLaunchTime) {
                host.complete(success: true, message: nil)
                MainLoop.end()
            }
        } else if let running = app.launch(launch, over: host) ?? start(launch, over: host, callbacks) {
            running.whenCompleted { _ in MainLoop.end() }
            if launch.kind == .transferEvents { SessionEvents.announce(SessionEvents.session(of: launch)) }
        } else {
            misuse("NSInternalInconsistencyException", noHandler(for: launch))
        }
    }

    /// How many seconds the process continues after an app launch has entered the background.
    ///
    /// Apple allows about 5 s before it suspends the app. Here, 1 s is enough to submit requests, because
    /// nothing is suspended.
    static let appLaunchTime = 1.0

    private static func noHandler(for launch: LaunchFacts) -> String {
        switch launch.kind {
        case .activity:
            "No activity is scheduled for \(launch.identifier): make an NSBackgroundActivityScheduler with that "
                + "identifier and call schedule(_:) while the app launches."
        case .push:
            "There is no handler for the push \(launch.identifier): implement application(_:didReceiveRemoteNotification:"
                + "fetchCompletionHandler:) in the app delegate, or register a launch handler for the identifier."
        case .appRefresh, .processing, .continuedProcessing, .transferEvents, .appLaunch:
            App.noHandler(launch.identifier)
        }
    }

    /// Starts a launch with one of the app's callbacks, if no handler is registered; `nil` if there is no
    /// callback either.
    @MainActor
    private static func start(
        _ launch: LaunchFacts, over host: RunnerHost, _ callbacks: AppCallbacks
    ) -> RunningTask? {
        let running = RunningTask(launch, host, expiresOn: nil)
        App.shared.keep(running)
        if launch.kind == .push, let push = callbacks.push {
            running.expirationHandler = { running.complete(success: false) }
            push(launch.payload) { result in
                running.complete(
                    success: result != .failed, message: result == .failed ? nil : result.rawValue)
            }
            return running
        }
        if launch.kind == .transferEvents, let transferEvents = callbacks.transferEvents {
            running.expirationHandler = { running.complete(success: false) }
            let session = SessionEvents.session(of: launch)
            let cancel = transferEvents(session) { running.complete(success: $0) }
            if let cancel { running.expirationHandler = cancel }
            return running
        }
        return nil
    }
}
