public import TaskModel

/// Where requests, launches, checkpoints and facts outlive the host.
///
/// What ``commit(_:)`` and the other mutations have answered is durable: a crash of the host or of the
/// machine can't undo it. Concurrent mutations share a commit. Reads see every mutation that has returned and
/// every note. All times of requests and launches are rounded to milliseconds. Documentation/Store.md has the
/// meaning of the rows and the states of a request. All implementations pass one suite
/// (`RequestConformanceTests`, `LaunchConformanceTests`, `FactConformanceTests`).
public protocol RequestStore: Sendable {
    // MARK: Changes

    /// Does writes in one transaction with one sync, in their order.
    ///
    /// Each write is refused or done on its own. An error of the database or the disk fails all of them.
    ///
    /// - Parameters:
    ///   - writes: Later writes see what earlier ones did.
    ///   - answer: Called once, on any thread, with one answer for each write in the same order; what
    ///     succeeded is durable.
    func commit(
        _ writes: [StoreWrite], answer: @escaping @Sendable ([Result<StoreAnswer, StoreRefusal>]) -> Void)

    /// Keeps a note; readers see it at once. No effect on a launch that has ended.
    ///
    /// It becomes durable with the next commit of anything else. Notes alone make a commit at most once a
    /// second, so a flood of them costs no disk.
    ///
    /// - Parameters:
    ///   - note: What happened.
    ///   - launch: The launch.
    ///   - moment: Now; its monotonic clock decides whether notes are due.
    func note(_ note: StoreNote, of launch: LaunchID, at moment: Moment)

    /// Ends every launch that a dead host left as `lost` with `hostDied`, and puts requests back by the rule.
    ///
    /// Call it once, before anything is launched. Either all of it happens or nothing; a second call finds
    /// nothing to do.
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

    /// Forgets history: ended launches that are neither among the newest nor young, and done requests without
    /// launches.
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

    // MARK: Reads

    /// Every fact that was remembered; those that can't be read are sentences in the result, not errors.
    func facts() async throws(StoreError) -> StoredFacts

    /// All pending requests, oldest first.
    func pendingRequests() async throws(StoreError) -> [TaskRequest]

    /// A request in any state; `nil` if it never existed or is pruned.
    func request(_ id: RequestID) async throws(StoreError) -> RequestRecord?

    /// What the last launch of a request saved; `nil` if nothing, or if the request is done.
    func checkpoint(of request: RequestID) async throws(StoreError) -> [UInt8]?

    /// When a launch of the identifier last succeeded; survives pruning.
    func lastSuccess(of identifier: TaskIdentifier) async throws(StoreError) -> WallTime?

    /// One launch; `nil` if it never existed or is pruned.
    func launch(_ id: LaunchID) async throws(StoreError) -> LaunchRecord?

    /// Launches, newest first.
    ///
    /// - Parameters:
    ///   - identifier: Only this task's; `nil` is all.
    ///   - limit: The greatest number.
    ///   - before: Only older ones; `nil` starts with the newest.
    /// - Returns: The records, with the newest notes.
    /// - Throws: ``StoreError`` when the store can't be read.
    func launches(
        identifier: TaskIdentifier?, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchRecord]

    /// All launches of a request, first attempt first.
    func launches(of request: RequestID) async throws(StoreError) -> [LaunchRecord]
}

extension RequestStore {
    /// Does writes in one transaction; see ``commit(_:answer:)``.
    ///
    /// - Parameter writes: Later writes see what earlier ones did.
    /// - Returns: One answer for each write, in the same order.
    public func commit(_ writes: [StoreWrite]) async -> [Result<StoreAnswer, StoreRefusal>] {
        await withCheckedContinuation { caller in commit(writes) { caller.resume(returning: $0) } }
    }

    /// Recovers without a back-off: what is put back may start at once.
    public func recover(
        at time: WallTime, isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    ) async throws(StoreError) -> Recovery {
        try await recover(at: time, isAtMostOnce: isAtMostOnce) { _ in nil }
    }
}
