/// The launch code of a plugin that is no app: mark one type of the library with `@main`.
///
/// ```swift
/// @main
/// struct Feed: BackgroundPlugin {
///     static func registerHandlers(with scheduler: BGTaskScheduler) {
///         scheduler.register(forTaskWithIdentifier: "org.example.feed.refresh", using: nil) { task in
///             task.setTaskCompleted(success: true)
///         }
///     }
/// }
/// ```
public protocol BackgroundPlugin {
    /// Registers a launch handler for every identifier that the manifest permits.
    ///
    /// Called once in every process of the plugin, on the main thread, before the launch's handler.
    ///
    /// - Parameter scheduler: The process's scheduler.
    static func registerHandlers(with scheduler: BGTaskScheduler)

    /// Submits the first requests: called when the plugin was installed or changed, and by `bgtask open`.
    ///
    /// Does nothing where a plugin leaves it out: then a `schedule:` of the manifest, or a client, makes the
    /// requests.
    static func didEnterBackground()
}

extension BackgroundPlugin {
    /// Does nothing.
    public static func didEnterBackground() {}

    /// What `@main` calls.
    @MainActor
    public static func main() {
        registerHandlers(with: .shared)
        LaunchedApp.finishLaunching(AppCallbacks { didEnterBackground() })
    }
}
