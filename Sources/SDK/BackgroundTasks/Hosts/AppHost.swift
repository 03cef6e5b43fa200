import Foundation

/// The host of an app: the runner of a launch, a host at the other end of its control socket, a test's
/// simulated host, or no host.
///
/// All members can be used from any thread. Methods that need an answer from the host wait for it.
package protocol AppHost: AnyObject, Sendable {
    /// The permissions in the manifest; `nil` if only the host knows them.
    var permits: AppPermits? { get }
    /// The current date; virtual in tests.
    var now: Date { get }
    /// The launch for which the host started this process; `nil` if the process was not started by the host.
    var launchedFor: LaunchFacts? { get }

    /// Submits a request and waits until the host has stored it durably.
    func submit(_ request: RequestFacts) throws(Refusal)
    /// Cancels the pending request of an identifier or, with `nil`, all pending requests of the bundle.
    func cancel(_ identifier: String?)
    /// The bundle's pending requests; empty if the host cannot be reached.
    func pending() -> [RequestFacts]

    /// Whether a call to `submit`, `cancel` or `pending` is waiting for the host.
    var isAsking: Bool { get }

    /// Asks the host something about the background sessions of the bundle, as JSON, and waits for the
    /// answer; if the question is patient, the process may end before that.
    func askAboutSessions(_ question: Data, isPatient: Bool) throws(Refusal) -> Data

    /// Writes a line to the host's log.
    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String)
    /// Gives the author of the plugin a piece of advice; the host shows it once per version of the plugin.
    func advise(_ code: String, _ message: String)
    /// Reports why the process is about to end itself.
    func fault(_ code: String, _ message: String)

    /// Begins an assertion, which keeps the process alive after its task has completed; `nil` if it is too
    /// late for that.
    func beginAssertion(_ name: String) -> UInt64?
    /// Ends an assertion.
    func endAssertion(_ assertion: UInt64)
    /// How many seconds assertions may keep the process alive after its task has completed.
    var assertionAllowance: TimeInterval { get }

    /// The conditions of the machine; the getter may wait for the host.
    var conditions: MachineConditions { get }
    /// The conditions that the host sent last; the getter never waits.
    ///
    /// The next change is compared with them.
    var toldConditions: MachineConditions { get }
    /// Calls `handler` after every change of the conditions, on a thread of the host connection.
    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void)
}

extension AppHost {
    /// The machine's date.
    package var now: Date { Date() }

    /// Refuses, because only launches of a host have sessions.
    package func askAboutSessions(_ question: Data, isPatient: Bool) throws(Refusal) -> Data {
        throw Refusal(
            .unavailable,
            "background sessions exist only in a process that a host launched. Install the app as a plugin: "
                + "bgtask install")
    }

    /// False, because only the runner uses this to delay the end of the process.
    package var isAsking: Bool { false }

    /// The same as ``conditions``, for hosts that do not wait.
    package var toldConditions: MachineConditions { conditions }

    /// Whether the host started this process for a launch.
    package var isLaunch: Bool { launchedFor != nil }
}

/// The connection from one launch to the host.
package protocol TaskChannel: AnyObject, Sendable {
    /// Reports progress; a newer report replaces older ones.
    func report(completed: Int64, total: Int64)
    /// Replaces the title and the second line that the user sees.
    func setTitle(_ title: String, subtitle: String)
    /// Saves a checkpoint, or deletes it if `nil`; returns false if it is too large.
    func save(checkpoint: Data?) -> Bool
    /// Ends the launch; only the first call has an effect.
    func complete(success: Bool, message: String?)
    /// Ends an expiring launch without completing it.
    func endUnfinished()
    /// Sets the handler that is called once when the launch expires, on a thread of the host connection.
    ///
    /// If the launch is already expiring, the handler is called immediately.
    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?)
    /// Reports that the launch handler has returned: if it set no expiration handler, it will probably set
    /// none later.
    func handlerReturned()
    /// The expiration; `nil` while the launch is not expiring.
    var expiration: Expiration? { get }
}

extension TaskChannel {
    /// Does nothing, because only the runner needs this.
    package func handlerReturned() {}
}

/// The permissions in a manifest.
package struct AppPermits: Sendable {
    /// The bundle's id.
    package var bundle: String
    /// The permitted identifiers; those of continued tasks may end in `.*`.
    package var identifiers: [String]
    /// The kinds of ``identifiers``; those that are not known are missing.
    package var kinds: [String: BackgroundTaskKind]
    /// The background modes: `fetch`, `processing`, `remote-notification` or `health-research`.
    package var modes: [String]

    /// The mode of bundles whose processing tasks may belong to a health study.
    package static let healthResearch = "health-research"

    package init(
        bundle: String, identifiers: [String], kinds: [String: BackgroundTaskKind] = [:], modes: [String]
    ) {
        self.bundle = bundle
        self.identifiers = identifiers
        self.kinds = kinds
        self.modes = modes
    }

    /// The permitted identifier that applies to this one: the same one, or the longest wildcard; `nil` if
    /// there is none.
    package func pattern(for identifier: String) -> String? {
        if identifiers.contains(identifier) { return identifier }
        return identifiers.filter { Wildcard.matches($0, identifier) }.max { $0.utf8.count < $1.utf8.count }
    }
}

/// The matching of identifiers that end in `.*`.
package enum Wildcard {
    /// Whether a wildcard covers an identifier, which has one or more labels in place of the star.
    package static func matches(_ pattern: String, _ identifier: String) -> Bool {
        guard pattern.hasSuffix(".*") else { return false }
        let stem = pattern.dropLast()
        return identifier.hasPrefix(stem) && identifier.utf8.count > stem.utf8.count
            && !identifier.hasSuffix(".*")
    }
}

/// The kinds of launches; the numbers are those of `bgtask.h`.
package enum BackgroundTaskKind: Int, Sendable {
    case appRefresh = 1
    case processing = 2
    case continuedProcessing = 3
    case push = 4
    case transferEvents = 5
    case activity = 6
    case appLaunch = 7
}

/// The severities of log lines; the numbers are those of `bgtask.h`.
package enum LogLevel: Int, Sendable {
    case debug = 1
    case info = 2
    case notice = 3
    case warning = 4
    case error = 5
}

/// The contents of a request.
package struct RequestFacts: Equatable, Sendable {
    package var identifier: String
    package var kind: BackgroundTaskKind
    package var earliestBeginDate: Date?
    /// For activities, the end of the window; `nil` means that there is none.
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
    /// The end of the lease that was granted at the start; `nil` means that run time is not limited.
    package var leaseEnd: Date?
    /// The path of the bundle's own directory; `nil` unless the runner started the process.
    package var dataDirectory: String?
    /// When a launch of the identifier last succeeded; `nil` if none did, or if the host does not say.
    package var lastSuccess: Date?
    /// Whether the task is a processing task of a health study.
    package var isHealthResearch = false

    package init(
        identifier: String, kind: BackgroundTaskKind, attempt: Int = 1, payload: Data? = nil,
        checkpoint: Data? = nil, title: String = "", subtitle: String = "", leaseEnd: Date? = nil,
        dataDirectory: String? = nil, lastSuccess: Date? = nil
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
        self.lastSuccess = lastSuccess
    }
}

/// A request of the host that a launch end.
package struct Expiration: Equatable, Sendable {
    /// The host's word for the reason.
    package var reason: String
    /// When the host kills the process.
    package var deadline: Date
    /// How many seconds the launch has until ``deadline``.
    package var grace: TimeInterval

    package init(reason: String, deadline: Date, grace: TimeInterval) {
        self.reason = reason
        self.deadline = deadline
        self.grace = grace
    }
}

/// Why a host refused a request.
package struct Refusal: Error, Sendable {
    /// The kind of the error.
    package var code: BGTaskScheduler.Error.Code
    /// A sentence with the subject, the reason and what to do.
    package var text: String

    package init(_ code: BGTaskScheduler.Error.Code, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// The conditions of the machine that apps can read.
package struct MachineConditions: Equatable, Sendable {
    /// Where power comes from; the numbers are those of `bgtask.h`.
    package enum Power: Int, Sendable {
        case unknown = 0
        case battery = 1
        case charging = 2
        case external = 3
    }

    /// Whether the app may refresh in the background; the numbers are Apple's.
    package enum Refresh: Int, Sendable {
        case restricted = 0
        case denied = 1
        case available = 2
    }

    /// The network and its cost; the numbers are those of `bgtask.h`.
    package enum Network: Int, Sendable {
        case unknown = 0
        case none = 1
        case constrained = 2
        case metered = 3
        case unmetered = 4
    }

    package var isLowPower = false
    /// From 0 (nominal) to 3 (critical).
    package var thermal = 0
    package var power = Power.unknown
    /// The charge of the battery in percent, 0 through 100; `nil` if unknown.
    package var battery: Int?
    package var refresh = Refresh.available
    /// For activities, whether the host suggests that the block stop early.
    package var shouldDefer = false
    /// Whether continued tasks may request the GPU.
    package var hasGPU = false
    package var network = Network.unknown
    /// What the ways to the network are made of; empty if unknown.
    package var interfaces: Interfaces = []

    /// A set of kinds of interfaces; the bits are those of `bgtask.h`.
    package struct Interfaces: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let wifi = Interfaces(rawValue: 1)
        package static let cellular = Interfaces(rawValue: 2)
        package static let wired = Interfaces(rawValue: 4)
        package static let other = Interfaces(rawValue: 8)
    }

    package init() {}
}
