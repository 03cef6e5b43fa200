import TaskModel

/// What the launches of an app are called.
enum AppLaunchIdentifier {
    /// The bundle's own id; where a manifest declares that as a task's identifier, the id and as many labels
    /// `appLaunch` as make it free.
    ///
    /// A task that has the name keeps it: its handler was written for an app whose system never gave its
    /// launches one.
    ///
    /// - Parameters:
    ///   - bundle: The app.
    ///   - declared: Every identifier that a manifest declares without a wildcard.
    /// - Returns: The identifier; `nil` where it would grow too long, and the app has no launches.
    static func make(for bundle: BundleIdentifier, besides declared: Set<TaskIdentifier>) -> TaskIdentifier? {
        var name = bundle.rawValue
        while let identifier = try? TaskIdentifier(name) {
            if !declared.contains(identifier) { return identifier }
            name += ".appLaunch"
        }
        return nil
    }
}
