public import TaskModel

/// A store that keeps requests, launches, checkpoints and facts when the host ends.
///
/// A change is durable when the call that made it has returned or answered: a crash of the host or the
/// machine can't undo it. Concurrent changes share a commit. Reads see all changes that have returned, and
/// all notes. All times of requests and launches are rounded to milliseconds. Documentation/Store.md explains
/// the rows and the states of a request. All implementations must pass the same tests
/// (`RequestConformanceTests`, `LaunchConformanceTests`, `FactConformanceTests`).
public protocol RequestStore: Sendable {
    // MARK: Changes

    /// Performs writes in order, in one transaction with one fsync.
    ///
    /// Each write succeeds or is refused alone. An error of the database or the disk fails all writes.
    ///
    /// - Parameters:
    ///   - writes: The writes; each sees the changes of the earlier ones.
    ///   - answer: Called once, on any thread, with one result for each write, in the same order; successful
    ///     writes are durable then.
    func commit(
        _ writes: [StoreWrite], answer: @escaping @Sendable ([Result<StoreAnswer, StoreRefusal>]) -> Void)

    /// Stores a note about a launch: when it was ready, or its progress; readers see it immediately.
    ///
    /// The note becomes durable with the next commit of a write. If there are only notes, a commit is made at
    /// most once a second, so that many notes cause little disk traffic. The note is ignored if the launch
    /// has ended.
    ///
    /// - Parameters:
    ///   - note: The event to note.
    ///   - launch: The launch.
    ///   - moment: The present time; its monotonic clock decides whether a commit is due.
    func note(_ note: StoreNote, of launch: LaunchID, at moment: Moment)

    /// Ends all launches that a dead host left open; their outcome is `lost`, with the reason `hostDied`.
    ///
    /// The requests of these launches become pending again if `PutBackRule` permits it. Call this method
    /// once, before any launch starts. The call is one transaction; a second call changes nothing.
    ///
    /// - Parameter terms: The time that becomes the end of the launches, and the rules for second attempts.
    /// - Returns: What was recovered: the lost launches, the requests that are pending again, all others
    ///   that are pending, and the facts that a host begins with.
    /// - Throws: ``StoreError`` if the store can't write.
    func recover(_ terms: RecoveryTerms) async throws(StoreError) -> Recovery

    /// Removes old history: ended launches, and requests that are done and have no launches left.
    ///
    /// The idempotency keys of removed requests can be used again. Numbers and tokens are never used again.
    ///
    /// - Parameters:
    ///   - count: How many of the newest launches are kept, whatever their age.
    ///   - time: Launches and requests that ended at or after this time are kept.
    /// - Returns: The number of removed launches and requests.
    /// - Throws: ``StoreError`` if the store can't write.
    @discardableResult
    func prune(keepingNewest count: Int, olderThan time: WallTime) async throws(StoreError) -> Int

    // MARK: Reads

    /// All stored facts; those that can't be read are sentences in the result, not errors.
    func facts() async throws(StoreError) -> StoredFacts

    /// All pending requests, oldest first.
    func pendingRequests() async throws(StoreError) -> [TaskRequest]

    /// A request in any state; `nil` if it never existed or was removed.
    func request(_ id: RequestID) async throws(StoreError) -> RequestRecord?

    /// The request of a task with an idempotency key, in any state; `nil` if there is none.
    func request(_ identifier: TaskIdentifier, key: String) async throws(StoreError) -> RequestRecord?

    /// The checkpoint of a request; `nil` if no launch saved one, or if the request is done.
    func checkpoint(of request: RequestID) async throws(StoreError) -> [UInt8]?

    /// When a launch of this identifier last succeeded; ``prune(keepingNewest:olderThan:)`` does not remove
    /// it.
    func lastSuccess(of identifier: TaskIdentifier) async throws(StoreError) -> WallTime?

    /// A launch; `nil` if it never existed or was removed.
    func launch(_ id: LaunchID) async throws(StoreError) -> LaunchRecord?

    /// Reads launches, newest first.
    ///
    /// - Parameters:
    ///   - filter: Which launches are read.
    ///   - limit: The greatest number of launches.
    ///   - before: Only launches with smaller numbers are read; `nil` begins with the newest launch.
    /// - Returns: The launches, with their newest notes.
    /// - Throws: ``StoreError`` if the store can't be read.
    func launches(
        _ filter: LaunchFilter, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchRecord]

    /// Like ``launches(_:limit:before:)``, but reads only what a table shows, which takes a
    /// fraction of the time.
    func launchSummaries(
        _ filter: LaunchFilter, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchSummary]

    /// All launches of a request, in the order of their attempts.
    func launches(of request: RequestID) async throws(StoreError) -> [LaunchRecord]
}

extension RequestStore {
    /// Reads the launches of one task or, with `nil`, of all; see ``launches(_:limit:before:)``.
    public func launches(
        identifier: TaskIdentifier?, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchRecord] {
        try await launches(LaunchFilter(identifier: identifier), limit: limit, before: before)
    }

    /// Performs writes in order, in one transaction; see ``commit(_:answer:)``.
    ///
    /// - Parameter writes: The writes; each sees the changes of the earlier ones.
    /// - Returns: One result for each write, in the same order.
    public func commit(_ writes: [StoreWrite]) async -> [Result<StoreAnswer, StoreRefusal>] {
        await withCheckedContinuation { caller in commit(writes) { caller.resume(returning: $0) } }
    }
}
