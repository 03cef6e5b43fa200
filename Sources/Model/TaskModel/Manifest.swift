/// A manifest that was read and is valid: what a bundle may do, and which code runs.
public struct Manifest: Equatable, Sendable {
    /// The bundle's id.
    public var bundle: BundleIdentifier
    /// The library's file name inside the plugins directory; `nil` if the manifest names none.
    ///
    /// Without a library, each task has a `call:` or a `command:`, or is run by a client.
    public var library: String?
    /// The background modes that the bundle declares.
    public var modes: Set<BackgroundMode>
    /// The tasks that the manifest permits, in the order of the file.
    public var tasks: [TaskDeclaration]
    /// What the tasks may access besides their own directories.
    public var sandbox: SandboxDeclaration
    /// The bundle's limits of pending requests (`pending:`).
    public var pendingLimits = PendingLimits()
    /// The identifier of the bundle's app launches; `nil` if its library is not an app.
    ///
    /// No file contains this identifier: the host detects an app when it copies the library.
    public var appLaunch: TaskIdentifier?

    /// Makes a manifest from values that the caller has checked.
    public init(
        bundle: BundleIdentifier, library: String?, modes: Set<BackgroundMode>, tasks: [TaskDeclaration],
        sandbox: SandboxDeclaration
    ) {
        self.bundle = bundle
        self.library = library
        self.modes = modes
        self.tasks = tasks
        self.sandbox = sandbox
    }

    /// The declaration that applies to an identifier.
    ///
    /// An exact pattern takes precedence over a wildcard, and a longer wildcard over a shorter one. For app
    /// launches, the host makes a declaration, because no file contains one.
    public func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
        if identifier == appLaunch { return TaskDeclaration(appLaunch: identifier) }
        return tasks.filter { $0.pattern.matches(identifier) }.max { left, right in
            if left.pattern.isWildcard != right.pattern.isWildcard { return left.pattern.isWildcard }
            return left.pattern.base.rawValue.utf8.count < right.pattern.base.rawValue.utf8.count
        }
    }
}

/// The limits in `pending: {appRefresh, processing}`: how many requests of a kind a bundle may have pending.
public struct PendingLimits: Equatable, Sendable, Codable {
    /// The limit for refresh requests, 1 through 1000; `nil` selects the host's default.
    public var appRefresh: Int?
    /// The limit for processing requests, 1 through 1000; `nil` selects the host's default.
    public var processing: Int?

    /// Makes limits from numbers that the caller has checked; by default, the host's limits apply.
    public init(appRefresh: Int? = nil, processing: Int? = nil) {
        self.appRefresh = appRefresh
        self.processing = processing
    }

    /// The limit for a kind; `nil` selects the host's default, which exists only for refresh and processing.
    public subscript(kind: TaskKind) -> Int? {
        switch kind {
        case .appRefresh: appRefresh
        case .processing: processing
        case .continuedProcessing, .push, .transferEvents, .activity, .appLaunch: nil
        }
    }
}

/// One task of a manifest.
public struct TaskDeclaration: Equatable, Sendable, Codable {
    /// The identifiers that the declaration permits.
    public var pattern: IdentifierPattern
    /// The kind of the task.
    public var kind: TaskKind
    /// Whether every request requires external power.
    public var requiresExternalPower: Bool
    /// Whether every request requires a network connection.
    public var requiresNetworkConnectivity: Bool
    /// Which network every request requires; `nil` selects the kind's default where one is required.
    ///
    /// A value implies ``requiresNetworkConnectivity``.
    public var network: NetworkRequirement?
    /// The resources that one launch may use: the default of the kind, changed by `limits:`.
    public var limits: LaunchLimits
    /// When the host makes requests by itself; `nil` if it makes none.
    public var schedule: Schedule?
    /// The keys that a payload must contain, with their types; an empty dictionary permits any payload.
    public var payload: [String: PayloadType]
    /// The values of the keys of ``payload`` that a submission may leave out; `nil` if it may leave out none.
    public var payloadDefaults: [String: PayloadDefault]?
    /// The `call:` that runs instead of the library's handler; `nil` if there is none.
    public var call: CallProgram?
    /// The `command:` that runs instead of the library's handler; `nil` if there is none.
    public var command: CommandProgram?
    /// Whether the host runs the task without the library of the manifest.
    public var hasOwnProgram: Bool { call != nil || command != nil }
    /// Whether the host never puts a request back when its launch ends as `lost`, or expires without
    /// completing.
    public var isAtMostOnce: Bool
    /// Whether processing also runs while the user is active: `deviceActivity: ignore`, for kiosks and
    /// servers.
    public var ignoresDeviceActivity = false
    /// How often the host tries a failed launch again; `nil` if it never does.
    public var retry: RetryDeclaration?
    /// The names of custom conditions that must hold, in the file's order: `requiresConditions`.
    public var requiredConditions: [String] = []
    /// Whether each launch should end shortly before the next use of the bundle: `prefetch: true`.
    ///
    /// Where the hours of use are not known, the task starts at any good moment of its window.
    public var isPrefetch: Bool {
        get { prefetch ?? false }
        set { prefetch = newValue ? true : nil }
    }
    /// What is encoded for ``isPrefetch``; recordings made before there was this key do not have it.
    private var prefetch: Bool?
    /// The constraints `storage`, `battery`, `between`, `conflicts` and `when`; `nil` if the task has none.
    public var constraints: TaskConstraints?
    /// The queue of the task's requests (`queue:`); `nil` means that a submission replaces the pending one.
    public var queue: QueueDeclaration?
    /// The task of the same bundle that the host submits when a request of this one has failed
    /// (`onFailure:`); `nil` if there is none.
    public var onFailure: TaskIdentifier?

    /// Makes a declaration with the default limits of its kind and without constraints.
    public init(pattern: IdentifierPattern, kind: TaskKind) {
        self.pattern = pattern
        self.kind = kind
        requiresExternalPower = false
        requiresNetworkConnectivity = false
        limits = .standard(for: kind)
        schedule = nil
        payload = [:]
        call = nil
        command = nil
        isAtMostOnce = false
        retry = nil
    }

    /// Makes the declaration for an app's launches, which no manifest contains.
    public init(appLaunch identifier: TaskIdentifier) {
        self.init(pattern: IdentifierPattern(exactly: identifier), kind: .appLaunch)
    }
}

/// The rule in `retry: {attempts, backoff}`: the host retries launches that ended `failed` or `crashed`.
///
/// An expired or lost launch does not count as a failed attempt. The host puts it back independently of this
/// rule.
public struct RetryDeclaration: Equatable, Hashable, Sendable, Codable {
    /// The largest number of attempts of one request, including the first one: 1 through 100.
    public var attempts: Int
    /// The wait after the first failure; it doubles after each further failure, up to 1 day.
    public var backOff: Duration

    /// Makes a rule from numbers that the caller has checked.
    public init(attempts: Int, backOff: Duration) {
        self.attempts = attempts
        self.backOff = backOff
    }

    /// The wait after failure number `failures`, counted from 1; `nil` if no attempt is left.
    public func delay(afterFailure failures: Int) -> Duration? {
        guard failures < attempts else { return nil }
        var delay = backOff
        for _ in 1..<max(2, failures) where failures > 1 && delay < .seconds(86_400) { delay *= 2 }
        return min(delay, .seconds(86_400))
    }
}

/// The type of one key of a payload.
public enum PayloadType: String, Sendable, Codable, CaseIterable {
    /// Text.
    case string
    /// A whole number.
    case integer
    /// Any number.
    case number
    /// True or false.
    case boolean
}
