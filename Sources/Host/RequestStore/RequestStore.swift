public import TaskModel

/// Where requests, launches, checkpoints and settings outlive the host.
///
/// Every mutation is durable when it returns: a crash of the host or of the machine right after can't undo it.
/// Concurrent mutations share a commit. Reads see everything that has returned. All times are rounded to
/// milliseconds. The rows' meaning and the states of a request are in Documentation/Store.md; two implementations pass
/// one suite (`RequestStoreConformanceTests`).
public protocol RequestStore: Sendable {
    /// Stores a request, in place of one that is pending under the same identifier.
    ///
    /// - A submission whose idempotency key was seen for the identifier returns that request, whatever became of it.
    /// - The schedule's submission never replaces what somebody else asked for: it returns that request as a repeat.
    ///
    /// - Parameters:
    ///   - submission: What is asked; the manifest's permission has been checked.
    ///   - bundle: The bundle whose manifest permits it.
    ///   - kind: The kind that the manifest gives it.
    ///   - time: Now.
    ///   - deadline: See semantics, *Submitting*.
    ///   - pendingLimit: How many pending requests of this bundle and kind may exist that no schedule made; `nil` is
    ///     no limit. The one that is replaced does not count, nor is a schedule's submission held to it.
    /// - Returns: The request, whether it was there before, and what it replaced.
    /// - Throws: ``SubmissionError`` `tooManyPendingTaskRequests`, or `unavailable` when the store can't write.
    func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, at time: WallTime,
        deadline: WallTime, pendingLimit: Int?
    ) async throws(SubmissionError) -> Acceptance

    /// All pending requests, oldest first.
    func pendingRequests() async throws(StoreError) -> [TaskRequest]

    /// A request in any state; `nil` if it never was or is pruned.
    func request(_ id: RequestID) async throws(StoreError) -> RequestRecord?

    /// Ends a pending request as `cancelled`.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - time: Now.
    ///   - reason: `cancelledByUser` or `manifestRemoved`.
    /// - Returns: False if it is not pending.
    /// - Throws: ``StoreError`` when the store can't write.
    func cancelPending(_ id: RequestID, at time: WallTime, reason: Reason) async throws(StoreError) -> Bool

    /// Consumes a pending request by a new launch in state `starting`, with a token above every earlier one.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - time: Now.
    ///   - isolation: What will isolate the launch.
    ///   - libraryHash: The library that will run; `nil` for a `call:`.
    ///   - isSimulated: Whether policies were skipped.
    ///   - explanation: The verdicts, as JSON text.
    /// - Returns: The launch, recorded before anything is started.
    /// - Throws: ``StoreError`` `notPending` if it is not pending.
    func beginLaunch(
        of request: RequestID, at time: WallTime, isolation: String, libraryHash: String?, isSimulated: Bool,
        explanation: String?
    ) async throws(StoreError) -> LaunchRecord

    /// Records that the handler was called. No effect on a launch that has ended.
    func markReady(_ id: LaunchID, at time: WallTime) async throws(StoreError)

    /// Records that an expire frame is sent, and what decided it as JSON text; the first one stays. No effect on a launch that has ended.
    func markExpiring(_ id: LaunchID, reason: Reason, explanation: String?) async throws(StoreError)

    /// Keeps bytes for the next attempt of the launch's request.
    ///
    /// - Returns: False if the launch has ended: a late checkpoint must not reach the next attempt.
    @discardableResult
    func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8]) async throws(StoreError) -> Bool

    /// Keeps the newest progress; readers see it at once.
    ///
    /// It becomes durable with the next commit of anything else, and by itself at most once a second of `moment`'s
    /// monotonic clock: a flood of reports costs no disk.
    func recordProgress(_ id: LaunchID, _ progress: TaskProgress, at moment: Moment)

    /// Keeps what the user sees of a launch from now on, and of its request if that is put back. No effect on a launch that
    /// has ended.
    func setTitle(_ id: LaunchID, title: String, subtitle: String) async throws(StoreError)

    /// Ends a launch, and puts its request back or ends that too, all in one step.
    ///
    /// A request is not put back when another one of its identifier is pending.
    ///
    /// - Parameters:
    ///   - id: The launch.
    ///   - end: How it ended.
    ///   - time: Now.
    ///   - cpuTime: CPU time of everything in the launch.
    ///   - cpuIsLowerBound: Whether that may be too low.
    ///   - peakMemory: Peak resident memory; `nil` if unknown.
    ///   - progress: The last progress; `nil` keeps what is recorded.
    ///   - putBack: `nil` ends the request; see ``PutBackRule``.
    /// - Returns: The request, if it is pending again. `nil` also when the launch had ended before: the first end
    ///   stands.
    /// - Throws: ``StoreError`` when the store can't write.
    func endLaunch(
        _ id: LaunchID, _ end: LaunchEnd, at time: WallTime, cpuTime: Duration, cpuIsLowerBound: Bool,
        peakMemory: ByteCount?, progress: TaskProgress?, putBack: PutBack?
    ) async throws(StoreError) -> TaskRequest?

    /// What the last launch of a request saved; `nil` if nothing, or if the request is done.
    func checkpoint(of request: RequestID) async throws(StoreError) -> [UInt8]?

    /// When a launch of the identifier last succeeded; survives pruning.
    func lastSuccess(of identifier: TaskIdentifier) async throws(StoreError) -> WallTime?

    /// Ends every launch that a dead host left as `lost` with `hostDied`, and puts requests back by the rule.
    ///
    /// To be called once, before anything is launched. All of it or none happens; a second call finds nothing to do.
    ///
    /// - Parameters:
    ///   - time: Now; the end of the launches.
    ///   - isAtMostOnce: Whether the manifest forbids a second attempt.
    ///   - backOff: The time before which the next attempt must not start; `nil` is at once.
    /// - Returns: What was lost and what is pending again.
    /// - Throws: ``StoreError`` when the store can't write.
    func recover(
        at time: WallTime, isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool,
        backOff: @escaping @Sendable (LaunchRecord) -> WallTime?
    ) async throws(StoreError) -> Recovery

    /// One launch; `nil` if it never was or is pruned.
    func launch(_ id: LaunchID) async throws(StoreError) -> LaunchRecord?

    /// Launches, newest first.
    ///
    /// - Parameters:
    ///   - identifier: Only this task's; `nil` is all.
    ///   - limit: At most so many.
    ///   - before: Only older ones; `nil` starts with the newest.
    /// - Returns: The records, with the newest progress.
    /// - Throws: ``StoreError`` when the store can't be read.
    func launches(
        identifier: TaskIdentifier?, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchRecord]

    /// All launches of a request, first attempt first.
    func launches(of request: RequestID) async throws(StoreError) -> [LaunchRecord]

    /// The value of a setting; `nil` if it was never set.
    func setting(_ key: String) async throws(StoreError) -> String?

    /// All settings.
    func settings() async throws(StoreError) -> [String: String]

    /// Sets a setting; `nil` removes it.
    func setSetting(_ key: String, _ value: String?) async throws(StoreError)

    /// Forgets history: ended launches that are neither among the newest nor young, and done requests without launches.
    ///
    /// A forgotten request's idempotency key is free again. Numbers and tokens are never used again.
    ///
    /// - Parameters:
    ///   - count: How many of the newest launches stay, whatever their age.
    ///   - time: What ended after this stays, whatever the count.
    /// - Returns: How many launches and requests were forgotten.
    /// - Throws: ``StoreError`` when the store can't write.
    @discardableResult
    func prune(keepingNewest count: Int, olderThan time: WallTime) async throws(StoreError) -> Int
}

extension RequestStore {
    /// Ends a pending request as cancelled by the user; false if it is not pending.
    public func cancelPending(_ id: RequestID, at time: WallTime) async throws(StoreError) -> Bool {
        try await cancelPending(id, at: time, reason: .cancelledByUser)
    }

    /// Recovers without a back-off: what is put back may start at once.
    public func recover(
        at time: WallTime, isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    ) async throws(StoreError) -> Recovery {
        try await recover(at: time, isAtMostOnce: isAtMostOnce) { _ in nil }
    }
}

extension RequestStore {
    /// Records that an expire frame is sent because somebody asked for it.
    public func markExpiring(_ id: LaunchID, reason: Reason) async throws(StoreError) {
        try await markExpiring(id, reason: reason, explanation: nil)
    }
}
