/// What kind of background task it is; decides lease, grace, limits and policies.
public enum TaskKind: String, Sendable, Codable, CaseIterable, Hashable {
    /// A short refresh of what the user will see next; Apple's app refresh task.
    case appRefresh
    /// Minutes of deferrable work while the device is idle; Apple's processing task.
    case processing
    /// Work that a user started and watches; Apple's continued processing task.
    case continuedProcessing
    /// A silent push.
    case push
    /// The events of a background transfer session.
    case transferEvents
    /// Periodic work inside a tolerance; Apple's background activity scheduler.
    case activity
    /// No task: runs an app's launch code, which submits its first requests; Apple's launch into the
    /// background.
    ///
    /// The host makes them for plugins that export `bgtask_app_entry`; no manifest can declare one.
    case appLaunch

    /// The kinds that a manifest can give a task.
    public static let declarable = allCases.filter { $0 != .appLaunch }

    /// The number of the kind in `bgtask.h` and in the runner protocol.
    public var wireValue: UInt64 {
        switch self {
        case .appRefresh: 1
        case .processing: 2
        case .continuedProcessing: 3
        case .push: 4
        case .transferEvents: 5
        case .activity: 6
        case .appLaunch: 7
        }
    }

    /// The kind with that number in the runner protocol; `nil` if there is none.
    public init?(wireValue: UInt64) {
        guard let kind = Self.allCases.first(where: { $0.wireValue == wireValue }) else { return nil }
        self = kind
    }

    /// The mode that a manifest must declare for this kind; `nil` if it needs none.
    public var requiredMode: BackgroundMode? {
        switch self {
        case .appRefresh: .fetch
        case .processing, .activity: .processing
        case .push: .remoteNotification
        case .continuedProcessing, .transferEvents, .appLaunch: nil
        }
    }

    /// Whether the host may put it off: all but what a user asked for, and launches of apps, which cost
    /// little and come once.
    public var isDiscretionary: Bool { self != .continuedProcessing && self != .appLaunch }
}

/// A manifest's declaration of what its bundle does in the background, as Apple's `UIBackgroundModes`.
public enum BackgroundMode: String, Sendable, Codable, CaseIterable, Hashable {
    /// App refresh tasks.
    case fetch
    /// Processing tasks and activities.
    case processing
    /// Silent pushes.
    case remoteNotification = "remote-notification"
    /// Processing tasks of a health research study: what is an entitlement on Apple's systems.
    case healthResearch = "health-research"
}
