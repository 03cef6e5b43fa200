import TaskModel

/// Chooses the identifier under which the host launches an app.
enum AppLaunchIdentifier {
    /// The identifier for an app's launches: the bundle's identifier, unless a task has it.
    ///
    /// If a manifest declares the bundle's identifier for a task, `.appLaunch` is appended until the result
    /// is free. The task keeps its identifier, because its handler was written for iOS, where launches of
    /// apps have no identifier.
    ///
    /// - Parameters:
    ///   - bundle: The app's bundle.
    ///   - declared: Every identifier that a manifest declares without a wildcard.
    /// - Returns: The identifier; `nil` if it would be too long. Then the host does not launch the app.
    static func make(for bundle: BundleIdentifier, besides declared: Set<TaskIdentifier>) -> TaskIdentifier? {
        var name = bundle.rawValue
        while let identifier = try? TaskIdentifier(name) {
            if !declared.contains(identifier) { return identifier }
            name += ".appLaunch"
        }
        return nil
    }
}
