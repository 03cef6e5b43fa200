/// One change of what the host must remember across restarts.
///
/// Writes are values so that the host's core can ask for them, and a test can make them fail, arrive late or
/// arrive in another order. The writes of one `RequestStore.commit` share one transaction and one sync,
/// in their order; each is refused or done on its own.
public enum StoreWrite: Equatable, Sendable {
    /// Stores a request, in place of one that is pending under the same identifier.
    ///
    /// - The request that is replaced ends as `cancelled` with the reason `replaced`.
    /// - A submission whose idempotency key was seen for the identifier returns that request, whatever became
    ///   of it.
    /// - A schedule's submission never replaces what someone else asked for: it returns that request as a
    ///   repeat.
    ///
    /// Answer: ``StoreAnswer/accepted(_:)``.
    case accept(TaskSubmission, RequestTerms)
    /// Ends a pending request as `cancelled`: `cancelledByUser` or `manifestRemoved`. Answer:
    /// ``StoreAnswer/cancelled(_:)``.
    case cancel(RequestID, Reason, at: WallTime)
    /// Consumes a pending request by a new launch in state `starting`. Answer: ``StoreAnswer/begun(_:)``.
    case begin(RequestID, LaunchTerms)
    /// Records the reason of an expiration, and what decided it as JSON text. Answer: `done`.
    ///
    /// The first reason stays, except that a user's cancellation replaces it: a host that dies then must not
    /// put the request back. No effect on a launch that has ended.
    case markExpiring(LaunchID, Reason, explanation: String?)
    /// Keeps bytes for the next attempt of the launch's request. Answer: ``StoreAnswer/saved(_:)``.
    case checkpoint(LaunchID, [UInt8])
    /// Ends a launch, and puts its request back or ends that too, in one step.
    ///
    /// A request is not put back while another one of its identifier is pending. A `nil` progress or title
    /// keeps what is stored; a `nil` put-back ends the request, see ``PutBackRule``. Answer:
    /// ``StoreAnswer/ended(putBack:)``.
    case end(EndedLaunch, progress: TaskProgress?, title: LaunchTitle?, putBack: PutBack?)
    /// Keeps a fact in place of the one that it supersedes. Answer: `done`.
    case remember(StoredFact)
}

/// What the store says of one ``StoreWrite``.
public enum StoreAnswer: Equatable, Sendable {
    /// The request, and what it replaced.
    case accepted(Acceptance)
    /// Whether the request was pending.
    case cancelled(Bool)
    /// The launch, recorded before anything is started.
    case begun(BegunLaunch)
    /// Whether the launch had not ended: a late checkpoint must not reach the next attempt.
    case saved(Bool)
    /// The request, if it is pending again. `nil` also when the launch had ended before: the first end
    /// counts.
    case ended(putBack: TaskRequest?)
    /// It is durable.
    case done
}

/// Why the store did not do one ``StoreWrite``.
public enum StoreRefusal: Error, Equatable, Sendable {
    /// The submission was refused; only ``StoreWrite/accept(_:_:)`` fails like this.
    case submission(SubmissionError)
    /// The store could not write, or the request is not pending.
    case store(StoreError)
}

/// What the host decided about a submission before it is stored.
public struct RequestTerms: Equatable, Sendable {
    /// The number of the request, above every earlier one; `nil` takes the store's next.
    public var id: RequestID?
    /// The bundle whose manifest permits it.
    public var bundle: BundleIdentifier
    /// The kind that the manifest gives it.
    public var kind: TaskKind
    /// When it was accepted.
    public var acceptedAt: WallTime
    /// When every wish but vetoes should have fallen.
    public var deadline: WallTime
    /// How many pending requests of this bundle and kind may exist that no schedule made; `nil` is no limit.
    ///
    /// The request that is replaced does not count, and a schedule's submission is not held to the limit.
    public var pendingLimit: Int?

    /// Makes terms.
    public init(
        id: RequestID? = nil, bundle: BundleIdentifier, kind: TaskKind, acceptedAt: WallTime,
        deadline: WallTime, pendingLimit: Int?
    ) {
        self.id = id
        self.bundle = bundle
        self.kind = kind
        self.acceptedAt = acceptedAt
        self.deadline = deadline
        self.pendingLimit = pendingLimit
    }

    /// The request that a store makes of a submission: its times are rounded to milliseconds.
    public func request(_ id: RequestID, of submission: TaskSubmission) -> TaskRequest {
        var kept = submission
        kept.earliestBeginDate = submission.earliestBeginDate?.rounded
        kept.deadline = nil
        return TaskRequest(
            id: id, submission: kept, bundle: bundle, kind: kind, submittedAt: acceptedAt.rounded,
            attempt: 1, notBefore: nil, deadline: deadline.rounded)
    }
}

/// What the host decided about a launch before it is stored.
public struct LaunchTerms: Equatable, Sendable {
    /// The number of the launch, above every earlier one; `nil` takes the store's next.
    public var id: LaunchID?
    /// When it begins.
    public var at: WallTime
    /// What will isolate it.
    public var isolation: String
    /// The library that will run; `nil` for a `call:` or a client.
    public var libraryHash: String?
    /// Whether policies were skipped.
    public var isSimulated: Bool
    /// The verdicts, as JSON text.
    public var explanation: String?

    /// Makes terms.
    public init(
        id: LaunchID? = nil, at: WallTime, isolation: String, libraryHash: String?, isSimulated: Bool,
        explanation: String?
    ) {
        self.id = id
        self.at = at
        self.isolation = isolation
        self.libraryHash = libraryHash
        self.isSimulated = isSimulated
        self.explanation = explanation
    }
}

/// A launch that is recorded, with what earlier attempts left for it; read in the same transaction.
public struct BegunLaunch: Equatable, Sendable {
    /// The record, in state `starting`.
    public var record: LaunchRecord
    /// What the last attempt of the request saved.
    public var checkpoint: [UInt8]?
    /// When a launch of the identifier last succeeded.
    public var lastSuccess: WallTime?

    /// Makes a launch.
    public init(record: LaunchRecord, checkpoint: [UInt8]?, lastSuccess: WallTime?) {
        self.record = record
        self.checkpoint = checkpoint
        self.lastSuccess = lastSuccess
    }
}

/// What the user sees of a launch and of its request.
public struct LaunchTitle: Equatable, Sendable {
    /// The first line.
    public var title: String
    /// The second line.
    public var subtitle: String

    /// Makes a title.
    public init(title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
    }
}

/// What may be lost with the host without breaking a promise.
///
/// It costs no commit of its own and rides along with the next.
public enum StoreNote: Equatable, Sendable {
    /// The handler was called; the first time stays.
    case ready(at: WallTime)
    /// The newest progress.
    case progress(TaskProgress)
}

/// One fact that outlives the host, besides requests and launches.
public enum StoredFact: Equatable, Sendable {
    /// What the scheduler remembers of a bundle.
    case bundleState(BundleIdentifier, BundleState)
    /// The library for which an app was last launched; `nil` forgets it.
    case launchedApp(BundleIdentifier, libraryHash: String?)
    /// What was advised about one version of a bundle's library; `nil` forgets it.
    case advice(BundleIdentifier, VersionAdvice?)
    /// The machine's boot id, when the host noticed it.
    case boot(String)
    /// A data directory named by a number, as older hosts made them, has its bundle's name now.
    case directoryRenamed(BundleIdentifier)
}

/// What was advised about one version of a bundle's library.
public struct VersionAdvice: Equatable, Sendable {
    /// Which version.
    public var libraryHash: String
    /// Oldest first.
    public var advice: [PluginAdvice]

    /// Makes an entry.
    public init(libraryHash: String, advice: [PluginAdvice]) {
        self.libraryHash = libraryHash
        self.advice = advice
    }
}

/// Every ``StoredFact``, as read when a host begins.
public struct StoredFacts: Equatable, Sendable {
    /// What the scheduler remembered of each bundle.
    public var bundleStates: [BundleIdentifier: BundleState] = [:]
    /// The library for which each app was last launched.
    public var launchedApps: [BundleIdentifier: String] = [:]
    /// What was advised about each bundle.
    public var advice: [BundleIdentifier: VersionAdvice] = [:]
    /// The boot id that was noticed last.
    public var boot: String?
    /// The numbers of data directories that older hosts made.
    public var numberedDirectories: [BundleIdentifier: String] = [:]
    /// The highest number that a request ever had; 0 if there never was one.
    public var lastRequest: Int64 = 0
    /// The highest number that a launch ever had; 0 if there never was one.
    public var lastLaunch: Int64 = 0
    /// Sentences for the log: what was stored and can't be read, and what happens without it.
    public var unreadable: [String] = []

    /// Makes an empty set.
    public init() {}
}
