import Foundation

/// What an app needs of whatever runs it: the runner of a launch, a host across its control socket, or a
/// test.
///
/// Callable from any thread; calls that ask the host wait for its answer.
package protocol AppHost: AnyObject, Sendable {
    /// What the manifest permits; `nil` where only the host knows.
    var permits: AppPermits? { get }
    /// The date, as this host has it.
    var now: Date { get }
    /// The one launch that this process was started for; `nil` where it lives on its own.
    var launchedFor: LaunchFacts? { get }

    /// Asks for a launch; durable when it returns.
    func submit(_ request: RequestFacts) throws(Refusal)
    /// Cancels the pending request of an identifier, or, with `nil`, all of the bundle.
    func cancel(_ identifier: String?)
    /// The bundle's pending requests; none where the host can't be asked.
    func pending() -> [RequestFacts]

    /// Whether one of these calls waits for the host's answer.
    var isAsking: Bool { get }

    /// Writes a line to the host's log.
    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String)
    /// Advises the author of the plugin, once per version of the plugin and code.
    func advise(_ code: String, _ message: String)
    /// Says why the process is about to end itself.
    func fault(_ code: String, _ message: String)

    /// Keeps the process alive after its task has completed; `nil` once it is too late for that.
    func beginAssertion(_ name: String) -> UInt64?
    /// Lets go.
    func endAssertion(_ assertion: UInt64)
    /// How many seconds assertions may keep the process alive.
    var assertionAllowance: TimeInterval { get }

    /// What the machine is like; may ask the host, and wait for its answer.
    var conditions: MachineConditions { get }
    /// What the host has told of the machine, without asking it: what changes are told against.
    var toldConditions: MachineConditions { get }
    /// Calls `handler` on every change of the conditions, on a thread of the host's.
    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void)
}

extension AppHost {
    /// The machine's date.
    package var now: Date { Date() }

    /// Of interest where the process ends with its task alone.
    package var isAsking: Bool { false }

    /// As good as asked.
    package var toldConditions: MachineConditions { conditions }

    /// Whether this process was started by the host, for one launch.
    package var isLaunch: Bool { launchedFor != nil }
}

/// One launch, towards the host.
package protocol TaskChannel: AnyObject, Sendable {
    /// Reports progress; the newest wins.
    func report(completed: Int64, total: Int64)
    /// Replaces what the user sees.
    func setTitle(_ title: String, subtitle: String)
    /// Saves a checkpoint, `nil` forgets it; false if it is too large.
    func save(checkpoint: Data?) -> Bool
    /// Ends the launch; the first call counts.
    func complete(success: Bool, message: String?)
    /// The process, or the handler, is about to end without completing, while the launch expires.
    func endUnfinished()
    /// What is called once when the launch expires, on a thread of the host's; at once if it expires already.
    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?)
    /// The launch handler has returned: without an expiration handler the task will most likely not listen.
    func handlerReturned()
    /// The expiration; `nil` while the launch does not expire.
    var expiration: Expiration? { get }
}

extension TaskChannel {
    /// Of interest to the runner alone.
    package func handlerReturned() {}
}

/// What a manifest permits.
package struct AppPermits: Sendable {
    /// The bundle's id.
    package var bundle: String
    /// As the manifest has them; continued ones may end in `.*`.
    package var identifiers: [String]
    /// The kinds of ``identifiers``, where they are known.
    package var kinds: [String: BackgroundTaskKind]
    /// `fetch`, `processing`, `remote-notification`, `health-research`.
    package var modes: [String]

    /// The mode of those whose processing tasks may be of a health research study.
    package static let healthResearch = "health-research"

    package init(
        bundle: String, identifiers: [String], kinds: [String: BackgroundTaskKind] = [:], modes: [String]
    ) {
        self.bundle = bundle
        self.identifiers = identifiers
        self.kinds = kinds
        self.modes = modes
    }

    /// The permitted identifier under which this one falls: itself, or the longest wildcard; `nil` if none.
    package func pattern(for identifier: String) -> String? {
        if identifiers.contains(identifier) { return identifier }
        return identifiers.filter { Wildcard.matches($0, identifier) }.max { $0.utf8.count < $1.utf8.count }
    }
}

/// Identifiers that end in `.*`.
package enum Wildcard {
    /// Whether a pattern is a wildcard that covers an identifier: one or more labels in place of the star.
    package static func matches(_ pattern: String, _ identifier: String) -> Bool {
        guard pattern.hasSuffix(".*") else { return false }
        let stem = pattern.dropLast()
        return identifier.hasPrefix(stem) && identifier.utf8.count > stem.utf8.count
            && !identifier.hasSuffix(".*")
    }
}

/// The host's kinds of launches.
package enum BackgroundTaskKind: Int, Sendable {
    case appRefresh = 1
    case processing = 2
    case continuedProcessing = 3
    case push = 4
    case transferEvents = 5
    case activity = 6
    case appLaunch = 7
}

/// Severities of log lines.
package enum LogLevel: Int, Sendable {
    case debug = 1
    case info = 2
    case notice = 3
    case warning = 4
    case error = 5
}

/// What is asked of the scheduler.
package struct RequestFacts: Equatable, Sendable {
    package var identifier: String
    package var kind: BackgroundTaskKind
    package var earliestBeginDate: Date?
    /// Activities: when the window ends.
    package var deadline: Date?
    package var requiresExternalPower = false
    package var requiresNetworkConnectivity = false
    package var payload: Data?
    package var title = ""
    package var subtitle = ""
    package var failsUnlessImmediate = false
    package var requiresGPU = false
    package var isHealthResearch = false
    package var protectionType = FileProtectionType.completeUntilFirstUserAuthentication.rawValue

    package init(identifier: String, kind: BackgroundTaskKind) {
        self.identifier = identifier
        self.kind = kind
    }
}

/// The facts of one launch.
package struct LaunchFacts: Sendable {
    package var identifier: String
    package var kind: BackgroundTaskKind
    package var attempt: Int
    package var payload: Data?
    package var checkpoint: Data?
    package var title: String
    package var subtitle: String
    /// When the lease ends, as it was granted; `nil` has no end.
    package var leaseEnd: Date?
    /// The bundle's own directory; `nil` outside the runner.
    package var dataDirectory: String?
    /// Whether a processing task is one of a health research study.
    package var isHealthResearch = false

    package init(
        identifier: String, kind: BackgroundTaskKind, attempt: Int = 1, payload: Data? = nil,
        checkpoint: Data? = nil, title: String = "", subtitle: String = "", leaseEnd: Date? = nil,
        dataDirectory: String? = nil
    ) {
        self.identifier = identifier
        self.kind = kind
        self.attempt = attempt
        self.payload = payload
        self.checkpoint = checkpoint
        self.title = title
        self.subtitle = subtitle
        self.leaseEnd = leaseEnd
        self.dataDirectory = dataDirectory
    }
}

/// A call to stop.
package struct Expiration: Equatable, Sendable {
    /// The host's word for why.
    package var reason: String
    /// When everything is killed.
    package var deadline: Date
    /// How many seconds were granted until then.
    package var grace: TimeInterval

    package init(reason: String, deadline: Date, grace: TimeInterval) {
        self.reason = reason
        self.deadline = deadline
        self.grace = grace
    }
}

/// Why a host refused.
package struct Refusal: Error, Sendable {
    /// What decided.
    package var code: BGTaskScheduler.Error.Code
    /// What was asked, what decided and what to do.
    package var text: String

    package init(_ code: BGTaskScheduler.Error.Code, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// What the machine is like, as far as apps may know.
package struct MachineConditions: Equatable, Sendable {
    /// Where power comes from.
    package enum Power: Int, Sendable {
        case unknown = 0
        case battery = 1
        case charging = 2
        case external = 3
    }

    /// Whether the app may refresh in the background; the values are Apple's.
    package enum Refresh: Int, Sendable {
        case restricted = 0
        case denied = 1
        case available = 2
    }

    package var isLowPower = false
    /// 0 nominal through 3 critical.
    package var thermal = 0
    package var power = Power.unknown
    /// 0 through 100; `nil` unknown.
    package var battery: Int?
    package var refresh = Refresh.available
    /// Activities: whether the host would rather have it stop.
    package var shouldDefer = false
    /// Whether continued tasks may ask for the GPU.
    package var hasGPU = false

    package init() {}
}
