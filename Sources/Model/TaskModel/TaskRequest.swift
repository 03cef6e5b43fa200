/// Names a request in the store: `R17`.
public struct RequestID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The store's number, from 1.
    public let rawValue: Int64
    /// Wraps the store's number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Parses `R17`; `nil` for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("R"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        rawValue = number
    }
    /// `R17`.
    public var description: String { "R\(rawValue)" }
    /// Orders by age: a smaller number was accepted earlier.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What to do with a continued request that can't start now.
public enum SubmissionStrategy: String, Sendable, Codable, CaseIterable {
    /// Refuse it with `immediateRunIneligible`.
    case fail
    /// Keep it, first in first out.
    case queue
}

/// Who made a request.
public enum RequestOrigin: String, Sendable, Codable, CaseIterable {
    /// A client of the control channel.
    case client
    /// A running handler of the same bundle.
    case handler
    /// The `schedule:` of a manifest.
    case schedule
    /// `bgtask launch` of an identifier that had nothing pending.
    case simulated
    /// A plugin that is an app was installed, or its library changed.
    case installation
}

/// How urgent a silent push is; the numbers are those of `apns-priority`.
public enum PushPriority: Int, Sendable, Codable, CaseIterable {
    /// May be put off with regard to power.
    case considerate = 5
    /// At once: no score is asked, only vetoes and the rate.
    case immediate = 10
}

/// What a client, a handler or a schedule asks for, before the host has accepted it.
public struct TaskSubmission: Equatable, Sendable, Codable {
    /// The task; a manifest must permit it.
    public var identifier: TaskIdentifier
    /// The kind that the submitter means; it must be the one that the manifest gives.
    ///
    /// `nil` takes the manifest's. Stores keep the request's kind alone.
    public var kind: TaskKind?
    /// Not before; a floor, never a promise.
    ///
    /// `nil` has no delay.
    public var earliestBeginDate: WallTime?
    /// Added to the manifest's constraint.
    public var requiresExternalPower = false
    /// Added to the manifest's constraint.
    public var requiresNetworkConnectivity = false
    /// JSON text of an object; at most 48 KiB.
    ///
    /// `nil` means none.
    public var payload: String?
    /// Continued tasks: what the user sees.
    public var title = ""
    /// Continued tasks: the second line.
    public var subtitle = ""
    /// Continued tasks: whether to wait.
    public var strategy = SubmissionStrategy.queue
    /// Asks for the GPU.
    public var requiresGPU = false
    /// Pushes: how urgent it is.
    public var pushPriority = PushPriority.considerate
    /// Activities: when the window ends, which becomes the request's deadline.
    ///
    /// `nil` has no window. Stores keep only the request's deadline.
    public var deadline: WallTime?
    /// A repeated submission with the same key returns the same request.
    ///
    /// `nil` never matches.
    public var idempotencyKey: String?
    /// Who asks.
    public var origin: RequestOrigin

    /// Makes a submission without any wish but to run.
    public init(identifier: TaskIdentifier, origin: RequestOrigin) {
        self.identifier = identifier
        self.origin = origin
    }
}

/// An accepted request: durable until a launch consumed it and ended for good.
public struct TaskRequest: Equatable, Sendable, Codable {
    /// Its number in the store.
    public let id: RequestID
    /// What was asked.
    public var submission: TaskSubmission
    /// The bundle whose manifest permitted it.
    public var bundle: BundleIdentifier
    /// The kind that the manifest gave it.
    public var kind: TaskKind
    /// When it was accepted.
    public var submittedAt: WallTime
    /// The number of the next launch, from 1; grows when the host puts the request back.
    public var attempt: Int
    /// How many of its launches failed or crashed; those that expired or were lost do not count.
    public var failures = 0
    /// Set by a put-back's back-off: not before this, besides the earliest begin date.
    public var notBefore: WallTime?
    /// When every wish but vetoes should have fallen; see semantics, *Submitting*.
    public var deadline: WallTime

    /// Makes a request as the store holds it.
    public init(
        id: RequestID, submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind,
        submittedAt: WallTime, attempt: Int, notBefore: WallTime?, deadline: WallTime
    ) {
        self.id = id
        self.submission = submission
        self.bundle = bundle
        self.kind = kind
        self.submittedAt = submittedAt
        self.attempt = attempt
        self.notBefore = notBefore
        self.deadline = deadline
    }

    /// The task's identifier.
    public var identifier: TaskIdentifier { submission.identifier }

    /// The earliest begin date where it counts: continued tasks ignore it.
    public var effectiveBeginDate: WallTime? {
        kind == .continuedProcessing ? nil : submission.earliestBeginDate
    }

    /// Whether the host may put it off: all but what a user asked for, urgent pushes and launches of apps.
    public var isDiscretionary: Bool {
        kind.isDiscretionary && !(kind == .push && submission.pushPriority == .immediate)
    }
}
