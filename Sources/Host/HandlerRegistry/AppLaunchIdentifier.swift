import TaskModel

/// The identifier of the launches of an app.
enum AppLaunchIdentifier {
    /// Chooses the identifier: the bundle's own id, unless it is taken.
    ///
    /// If a manifest declares that id as a task's identifier, labels `appLaunch`
    /// are appended until the identifier is free.
    ///
    /// The task keeps its identifier, because its handler was written for a system where launches of apps
    /// have none.
    ///
    /// - Parameters:
    ///   - bundle: The app.
    ///   - declared: Every identifier that a manifest declares without a wildcard.
    /// - Returns: The identifier; `nil` if it would be too long, in which case the app has no launches.
    static func make(for bundle: BundleIdentifier, besides declared: Set<TaskIdentifier>) -> TaskIdentifier? {
        var name = bundle.rawValue
        while let identifier = try? TaskIdentifier(name) {
            if !declared.contains(identifier) { return identifier }
            name += ".appLaunch"
        }
        return nil
    }
}
