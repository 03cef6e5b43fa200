/// The launch code of a plugin that is not an app: mark one type of the library with `@main`.
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
    /// It is called once in every process of the plugin, on the main thread, before the handler of the
    /// launch.
    ///
    /// - Parameter scheduler: The scheduler of the process.
    static func registerHandlers(with scheduler: BGTaskScheduler)

    /// Submits the first requests.
    ///
    /// It is called after the plugin was installed or changed, and by `bgtask open`. The default
    /// implementation does nothing. It is sufficient if the manifest has a `schedule:`, or if a client
    /// submits the requests.
    static func didEnterBackground()
}

extension BackgroundPlugin {
    /// The default implementation, which does nothing.
    public static func didEnterBackground() {}

    /// The entry point that `@main` calls.
    @MainActor
    public static func main() {
        registerHandlers(with: .shared)
        LaunchedApp.finishLaunching(AppCallbacks { didEnterBackground() })
    }
}
