/// A manifest that was read and found right: what a bundle may do, and what runs.
public struct Manifest: Equatable, Sendable {
    /// The bundle's id.
    public var bundle: BundleIdentifier
    /// The library's file name inside the plugins directory; `nil` where every task has a `call:`.
    public var library: String?
    /// What the bundle declares to do.
    public var modes: Set<BackgroundMode>
    /// What it permits, in the file's order.
    public var tasks: [TaskDeclaration]
    /// What its tasks may reach.
    public var sandbox: SandboxDeclaration
    /// How many requests may be pending, if the manifest sets it: `pending:`.
    public var pendingLimits = PendingLimits()
    /// The identifier of its app launches; `nil` if its library is not an app.
    ///
    /// No file contains this: the host finds out when it copies the library.
    public var appLaunch: TaskIdentifier?

    /// Makes a manifest from checked parts.
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

    /// The declaration that an identifier falls under; an exact one wins over a wildcard, a longer one over a
    /// shorter.
    ///
    /// App launches have a declaration that no file has.
    public func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
        if identifier == appLaunch { return TaskDeclaration(appLaunch: identifier) }
        return tasks.filter { $0.pattern.matches(identifier) }.max { left, right in
            if left.pattern.isWildcard != right.pattern.isWildcard { return left.pattern.isWildcard }
            return left.pattern.base.rawValue.utf8.count < right.pattern.base.rawValue.utf8.count
        }
    }
}

/// `pending: {appRefresh, processing}`: how many requests of a kind a bundle may have pending.
public struct PendingLimits: Equatable, Sendable, Codable {
    /// Refresh requests, 1 through 1000; `nil` leaves it to the host.
    public var appRefresh: Int?
    /// Processing requests, 1 through 1000; `nil` leaves it to the host.
    public var processing: Int?

    /// Makes limits from checked numbers; the default leaves both to the host.
    public init(appRefresh: Int? = nil, processing: Int? = nil) {
        self.appRefresh = appRefresh
        self.processing = processing
    }

    /// The limit of a kind; `nil` leaves it to the host, which limits no other kind.
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
    /// What it permits.
    public var pattern: IdentifierPattern
    /// Its kind.
    public var kind: TaskKind
    /// A constraint of every request.
    public var requiresExternalPower: Bool
    /// A constraint of every request.
    public var requiresNetworkConnectivity: Bool
    /// What one launch may use: the kind's standard, changed by `limits:`.
    public var limits: LaunchLimits
    /// Requests that the host makes by itself; `nil` if it makes none.
    public var schedule: Schedule?
    /// The keys that a payload must carry, with their types; empty permits any.
    public var payload: [String: PayloadType]
    /// A `call:` in place of the library's handler.
    public var call: CallProgram?
    /// Whether a launch that ended `lost` or expired without completing is not put back.
    public var isAtMostOnce: Bool
    /// Whether processing also runs while the device is in use: `deviceActivity: ignore`, for kiosks and
    /// servers.
    public var ignoresDeviceActivity = false
    /// How often a failed launch is tried again by the host; `nil` leaves it to the handler.
    public var retry: RetryDeclaration?
    /// The names of custom conditions that must hold, in the file's order: `requiresConditions`.
    public var requiredConditions: [String] = []

    /// Makes a declaration from checked parts.
    public init(pattern: IdentifierPattern, kind: TaskKind) {
        self.pattern = pattern
        self.kind = kind
        requiresExternalPower = false
        requiresNetworkConnectivity = false
        limits = .standard(for: kind)
        schedule = nil
        payload = [:]
        call = nil
        isAtMostOnce = false
        retry = nil
    }

    /// What the host declares by itself for the launches of an app.
    public init(appLaunch identifier: TaskIdentifier) {
        self.init(pattern: IdentifierPattern(exactly: identifier), kind: .appLaunch)
    }
}

/// `retry: {attempts, backoff}`: launches that ended `failed` or `crashed` are retried.
///
/// An expired or lost launch does not count as a failed attempt; it is put back independently of this.
public struct RetryDeclaration: Equatable, Hashable, Sendable, Codable {
    /// All attempts of one request, the first included: 1 through 100.
    public var attempts: Int
    /// The wait after the first failure, doubled after each further one, at most 1 day.
    public var backOff: Duration

    /// Makes a declaration from checked numbers.
    public init(attempts: Int, backOff: Duration) {
        self.attempts = attempts
        self.backOff = backOff
    }

    /// How long to wait after failure number `failures`, from 1; `nil` once every attempt is spent.
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

/// A directory that a task may write.
public struct WriteGrant: Equatable, Hashable, Sendable, Codable {
    /// The directory; may begin with `~/` or name `${payload.KEY}`.
    public var path: String
    /// Whether the host makes it if it is missing.
    public var create: Bool

    public init(path: String, create: Bool) {
        self.path = path
        self.create = create
    }
}

/// What a manifest's tasks may reach besides their own directories.
public struct SandboxDeclaration: Equatable, Sendable, Codable {
    /// May open sockets; `nil` leaves it to the kind.
    public var network: Bool?
    /// Paths it may read.
    public var read: [String]
    /// Directories it may write.
    public var write: [WriteGrant]
    /// May start processes.
    public var subprocesses: Bool
    /// Its requests may ask for the GPU; `nil` is no.
    public var gpu: Bool?

    /// Makes a declaration; the default grants nothing.
    public init(
        network: Bool? = nil, read: [String] = [], write: [WriteGrant] = [], subprocesses: Bool = false,
        gpu: Bool? = nil
    ) {
        self.network = network
        self.read = read
        self.write = write
        self.subprocesses = subprocesses
        self.gpu = gpu
    }
}
