/// One change of the data that the host must remember across restarts.
///
/// Changes are values, so that the host's core can request them, and a test can make them fail, delay them or
/// reorder them. The changes in one call of `RequestStore.commit` share one transaction and one sync, in
/// their order. Each one succeeds or is refused independently of the others.
public enum StoreWrite: Equatable, Sendable {
    /// Stores a request, which replaces a pending one of the same identifier.
    ///
    /// - The replaced request ends as `cancelled` with the reason `replaced`.
    /// - If the idempotency key was already used for the identifier, the answer is the request that used it,
    ///   in any state.
    /// - With ``PendingRule/keep``, a pending request stays, and the answer is that request.
    /// - With ``PendingRule/append``, the new request waits for the pending or launched one
    ///   (``TaskRequest/after``). When that one ends, the write that ends it makes the new one pending. A
    ///   request that replaces the pending one takes its place before the new one. A second request that
    ///   would wait is refused with `tooManyPendingTaskRequests`.
    /// - With ``RequestTerms/queue``, the request replaces none, and no limit of pending requests applies. A
    ///   key makes it a repeat only while the request with the same key has not ended, and for
    ///   ``QueueTerms/unique`` after that; then the ended request loses its key.
    /// - With ``TaskSubmission/predecessors``, the request waits for those that have not succeeded
    ///   (``TaskRequest/openPredecessors``). The write that ends the last of them with success fulfils the
    ///   wait; one that ends any of them otherwise ends this request, too, as `failed` with the reason
    ///   `predecessorFailed`, and so those that wait for it.
    /// - A submission of a schedule never replaces a request from another origin: the answer is that request,
    ///   as a repeat.
    ///
    /// Answer: ``StoreAnswer/accepted(_:)``.
    case accept(TaskSubmission, RequestTerms)
    /// Ends a pending request as ``Reason/outcomeWhilePending`` says: as `failed` for `deadlinePassed`, and
    /// otherwise as `cancelled`.
    ///
    /// The request that waits for it becomes pending. While an earlier request of the identifier has a
    /// launch, it waits for that one instead, so that the launch's request can be put back.
    ///
    /// Answer: ``StoreAnswer/cancelled(_:)``.
    case cancel(RequestID, Reason, at: WallTime)
    /// Starts a launch of a pending request and records it in state `starting`.
    ///
    /// Answer: ``StoreAnswer/begun(_:)``.
    case begin(RequestID, LaunchTerms)
    /// Records the reason of an expiration, and the explanation as JSON text.
    ///
    /// The first reason is kept, except that a user's cancellation replaces it: if the host dies afterwards,
    /// the next host must not put the request back. The change has no effect on a launch that has ended.
    ///
    /// Answer: ``StoreAnswer/done``.
    case markExpiring(LaunchID, Reason, explanation: String?)
    /// Saves bytes for the next attempt of the launch's request.
    ///
    /// Answer: ``StoreAnswer/saved(_:)``.
    case checkpoint(LaunchID, [UInt8])
    /// Ends a launch and, in the same step, puts its request back or ends the request.
    ///
    /// A request is not put back while another one of its identifier is pending, unless it is of a queue. A
    /// `nil` progress or title keeps the stored one. A `nil` put-back ends the request; see ``PutBackRule``.
    ///
    /// If the request ends, the same transaction accepts the submission of its `onFailure:`, if there is one.
    /// A refusal of that submission does not refuse the end.
    ///
    /// Answer: ``StoreAnswer/ended(putBack:)`` or, if the submission was made,
    /// ``StoreAnswer/endedInFailure(_:)``.
    indirect case end(
        EndedLaunch, progress: TaskProgress?, title: LaunchTitle?, putBack: PutBack?,
        onFailure: FailureSubmission? = nil)
    /// Stores a fact, which replaces the stored fact of the same kind and bundle.
    ///
    /// Answer: ``StoreAnswer/done``.
    case remember(StoredFact)
    /// Stores a transfer, or replaces its stored state.
    ///
    /// Answer: ``StoreAnswer/done``.
    case saveTransfer(Transfer)
    /// Stores transfers, or replaces their stored states, all or none.
    ///
    /// Answer: ``StoreAnswer/done``.
    case saveTransfers([Transfer])
    /// Removes transfers, all or none.
    ///
    /// Answer: ``StoreAnswer/done``.
    case removeTransfers([TransferID])
}

/// The store's answer to one ``StoreWrite``.
public enum StoreAnswer: Equatable, Sendable {
    /// The request, and the one that it replaced.
    case accepted(Acceptance)
    /// Whether the request was pending.
    case cancelled(Bool)
    /// The launch, which is recorded before the host starts anything.
    case begun(BegunLaunch)
    /// Whether the bytes were saved.
    ///
    /// This is false if the launch had already ended, because a late checkpoint must not reach the next
    /// attempt.
    case saved(Bool)
    /// The request if it is pending again, otherwise `nil`.
    ///
    /// It is also `nil` if the launch had already ended, because only the first end counts.
    case ended(putBack: TaskRequest?)
    /// The request has ended, and its `onFailure:` was submitted: the new request, or why it was refused.
    case endedInFailure(Result<Acceptance, SubmissionError>)
    /// The change is durable.
    case done
}

/// Why the store refused one ``StoreWrite``.
public enum StoreRefusal: Error, Equatable, Sendable {
    /// The submission was refused; only ``StoreWrite/accept(_:_:)`` can fail this way.
    case submission(SubmissionError)
    /// The store could not write, or the request is not pending.
    case store(StoreError)
}

/// The host's decisions about a submission, made before it is stored.
public struct RequestTerms: Equatable, Sendable {
    /// The number of the request, greater than all earlier ones; `nil` selects the store's next number.
    public var id: RequestID?
    /// The bundle whose manifest permits the submission.
    public var bundle: BundleIdentifier
    /// The kind that the manifest gives the task.
    public var kind: TaskKind
    /// When the host accepted the submission.
    public var acceptedAt: WallTime
    /// The time from which the request no longer waits for better conditions: only vetoes still delay it.
    public var deadline: WallTime
    /// The largest number of pending requests of this bundle and kind, without those of schedules; `nil`
    /// means no limit.
    ///
    /// The request that is replaced does not count. The limit does not apply to the submission of a schedule.
    public var pendingLimit: Int?
    /// For a request of a queue, what the store must know about the queue; `nil` for other requests.
    ///
    /// The host's core enforces the limit of a queue, because it knows the number of its requests.
    public var queue: QueueTerms?

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

    /// Makes the request that a store keeps for a submission, with its times rounded to milliseconds.
    public func request(_ id: RequestID, of submission: TaskSubmission) -> TaskRequest {
        var kept = submission
        kept.earliestBeginDate = submission.earliestBeginDate?.rounded
        kept.deadline = nil
        kept.ifPending = .replace
        kept.predecessors = Set(submission.predecessors).sorted()
        if let limit = kept.startDeadline {
            kept.startDeadline = StartDeadline(date: limit.date.rounded, action: limit.action)
        }
        var request = TaskRequest(
            id: id, submission: kept, bundle: bundle, kind: kind, submittedAt: acceptedAt.rounded,
            attempt: 1, notBefore: nil, deadline: deadline.rounded)
        request.isQueued = queue != nil
        return request
    }
}

/// The host's decisions about a launch, made before it is stored.
public struct LaunchTerms: Equatable, Sendable {
    /// The number of the launch, greater than all earlier ones; `nil` selects the store's next number.
    public var id: LaunchID?
    /// When the launch begins.
    public var at: WallTime
    /// What will isolate the launch; see ``LaunchRecord/isolation``.
    public var isolation: String
    /// The hash of the library that will run; `nil` for a `call:` or a client.
    public var libraryHash: String?
    /// Whether the launch is simulated (`bgtask launch`), so that most policies do not apply.
    public var isSimulated: Bool
    /// The verdicts at the start, as JSON text; `nil` if there are none.
    public var explanation: String?

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

/// A launch that was recorded, with the data that earlier attempts left for it, read in the same transaction.
public struct BegunLaunch: Equatable, Sendable {
    /// The record, in state `starting`.
    public var record: LaunchRecord
    /// The bytes that an earlier attempt of the request saved; `nil` if there are none.
    public var checkpoint: [UInt8]?
    /// When a launch of the identifier last succeeded; `nil` if none has.
    public var lastSuccess: WallTime?

    public init(record: LaunchRecord, checkpoint: [UInt8]?, lastSuccess: WallTime?) {
        self.record = record
        self.checkpoint = checkpoint
        self.lastSuccess = lastSuccess
    }
}

/// The title and subtitle of a launch and its request, as the user sees them.
public struct LaunchTitle: Equatable, Sendable {
    /// The title, which the user sees in the first line.
    public var title: String
    /// The subtitle, which the user sees below the title.
    public var subtitle: String

    public init(title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
    }
}

/// A fact about a launch that may be lost if the host dies, without breaking a promise.
///
/// A note causes no commit of its own; the next commit includes it.
public enum StoreNote: Equatable, Sendable {
    /// When the handler was called; only the first time is kept.
    case ready(at: WallTime)
    /// The newest progress.
    case progress(TaskProgress)
}

/// A fact, besides requests and launches, that must survive a restart of the host.
public enum StoredFact: Equatable, Sendable {
    /// What the scheduler remembers of a bundle.
    case bundleState(BundleIdentifier, BundleState)
    /// The hash of the library for which the host last launched an app; `nil` deletes the fact.
    case launchedApp(BundleIdentifier, libraryHash: String?)
    /// The advice about the installed version of a bundle's library; `nil` deletes the fact.
    case advice(BundleIdentifier, VersionAdvice?)
    /// The pause of the host; `nil` deletes the fact.
    case pause(Pause?)
    /// The boot id of the machine, which changes with each boot.
    case boot(String)
    /// The bytes of a bundle's transfers on the last days.
    case transferUse(BundleIdentifier, TransferUse)
    /// The bundle's data directory, which older hosts named by a number, now has the bundle's name.
    case directoryRenamed(BundleIdentifier)
}

/// The advice about one version of a bundle's library.
public struct VersionAdvice: Equatable, Sendable {
    /// The hash of that version.
    public var libraryHash: String
    /// The pieces of advice, oldest first.
    public var advice: [PluginAdvice]

    public init(libraryHash: String, advice: [PluginAdvice]) {
        self.libraryHash = libraryHash
        self.advice = advice
    }
}

/// All stored facts, as the host reads them when it starts.
public struct StoredFacts: Equatable, Sendable {
    /// What the scheduler remembers of each bundle.
    public var bundleStates: [BundleIdentifier: BundleState] = [:]
    /// The hash of the library for which the host last launched each app.
    public var launchedApps: [BundleIdentifier: String] = [:]
    /// The advice about each bundle's library.
    public var advice: [BundleIdentifier: VersionAdvice] = [:]
    /// The pause of the host, which may have ended; `nil` if there is none.
    public var pause: Pause?
    /// The boot id that was stored last; `nil` if none was.
    public var boot: String?
    /// The numbers by which older hosts named the data directories of bundles.
    public var numberedDirectories: [BundleIdentifier: String] = [:]
    /// The highest number that a request ever had; 0 if there has been no request.
    public var lastRequest: Int64 = 0
    /// The highest number that a launch ever had; 0 if there has been no launch.
    public var lastLaunch: Int64 = 0
    /// All stored transfers.
    public var transfers: [Transfer] = []
    /// The bytes of each bundle's transfers on the last days.
    public var transferUse: [BundleIdentifier: TransferUse] = [:]
    /// The highest number that a transfer ever had; 0 if there has been no transfer.
    public var lastTransfer: Int64 = 0
    /// Messages for the log about stored facts that cannot be read, and the consequences.
    public var unreadable: [String] = []

    public init() {}
}
