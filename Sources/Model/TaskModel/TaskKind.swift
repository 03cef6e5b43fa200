/// The kind of a background task, which decides its lease, limits and policies.
public enum TaskKind: String, Sendable, Codable, CaseIterable, Hashable {
    /// A short refresh of what the user will see next; Apple's app refresh task.
    case appRefresh
    /// Minutes of deferrable work while the device is idle; Apple's processing task.
    case processing
    /// Work that a user started and watches; Apple's continued processing task.
    case continuedProcessing
    /// The handling of a silent push.
    case push
    /// The handling of the events of a background transfer session.
    case transferEvents
    /// Periodic work with a tolerance; Apple's background activity scheduler.
    case activity
    /// A run of an app's launch code, which registers handlers and submits first requests; Apple's launch
    /// into the background.
    ///
    /// The host makes these launches for plugins that export `bgtask_app_entry`. A manifest cannot declare
    /// this kind.
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

    /// The kind with this number; `nil` if there is none.
    public init?(wireValue: UInt64) {
        guard let kind = Self.allCases.first(where: { $0.wireValue == wireValue }) else { return nil }
        self = kind
    }

    /// The mode that a manifest must declare in order to use this kind; `nil` if it needs none.
    public var requiredMode: BackgroundMode? {
        switch self {
        case .appRefresh: .fetch
        case .processing, .activity: .processing
        case .push: .remoteNotification
        case .continuedProcessing, .transferEvents, .appLaunch: nil
        }
    }

    /// Whether the host may delay a task of this kind.
    ///
    /// This is true for all kinds except continued tasks, which a user requested, and app launches, which are
    /// short and rare.
    public var isDiscretionary: Bool { self != .continuedProcessing && self != .appLaunch }
}

/// What a bundle does in the background, as its manifest declares it; like Apple's `UIBackgroundModes`.
public enum BackgroundMode: String, Sendable, Codable, CaseIterable, Hashable {
    /// App refresh tasks.
    case fetch
    /// Processing tasks and activities.
    case processing
    /// Silent pushes.
    case remoteNotification = "remote-notification"
    /// Processing tasks of a health research study; on Apple's systems, these need an entitlement.
    case healthResearch = "health-research"
}
