public import RequestStore
public import TaskModel

/// Calls that make a single write or note, for tests that need only one.
extension RequestStore {
    /// Stores a request; see ``StoreWrite/accept(_:_:)``.
    ///
    /// - Throws: ``SubmissionError`` `tooManyPendingTaskRequests`, or `unavailable` when the store can't
    ///   write.
    public func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, at time: WallTime,
        deadline: WallTime, pendingLimit: Int?
    ) async throws(SubmissionError) -> Acceptance {
        let terms = RequestTerms(
            bundle: bundle, kind: kind, acceptedAt: time, deadline: deadline, pendingLimit: pendingLimit)
        do throws(StoreRefusal) {
            return try await answer(to: .accept(submission, terms)) {
                if case .accepted(let acceptance) = $0 { acceptance } else { nil }
            }
        } catch {
            switch error {
            case .submission(let refusal): throw refusal
            case .store(let failure): throw failure.asSubmissionError(of: submission.identifier)
            }
        }
    }

    /// Ends a pending request as `cancelled`; false if it is not pending.
    public func cancelPending(
        _ id: RequestID, at time: WallTime, reason: Reason = .cancelledByUser
    ) async throws(StoreError) -> Bool {
        try await storeAnswer(to: .cancel(id, reason, at: time)) {
            if case .cancelled(let wasPending) = $0 { wasPending } else { nil }
        }
    }

    /// Begins a launch of a pending request; see ``StoreWrite/begin(_:_:)``.
    ///
    /// - Throws: ``StoreError`` `notPending` if the request is not pending.
    public func beginLaunch(
        of request: RequestID, at time: WallTime, isolation: String, libraryHash: String?, isSimulated: Bool,
        explanation: String?
    ) async throws(StoreError) -> LaunchRecord {
        let terms = LaunchTerms(
            at: time, isolation: isolation, libraryHash: libraryHash, isSimulated: isSimulated,
            explanation: explanation)
        return try await storeAnswer(to: .begin(request, terms)) {
            if case .begun(let launch) = $0 { launch.record } else { nil }
        }
    }

    /// Notes that the handler was called; the next commit makes the note durable.
    public func markReady(_ id: LaunchID, at time: WallTime) async throws(StoreError) {
        // A monotonic time of zero means that this note never delays another one.
        note(.ready(at: time), of: id, at: Moment(boot: .zero, monotonic: .zero, wall: time))
    }

    /// Records why a launch was asked to stop; see ``StoreWrite/markExpiring(_:_:explanation:)``.
    public func markExpiring(
        _ id: LaunchID, reason: Reason, explanation: String? = nil
    ) async throws(StoreError) {
        try await storeAnswer(to: .markExpiring(id, reason, explanation: explanation)) {
            if case .done = $0 { () } else { nil }
        }
    }

    /// Stores a checkpoint for the next attempt; false if the launch has ended.
    @discardableResult
    public func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8]) async throws(StoreError) -> Bool {
        try await storeAnswer(to: .checkpoint(id, bytes)) {
            if case .saved(let wasOpen) = $0 { wasOpen } else { nil }
        }
    }

    /// Notes the newest progress; see ``note(_:of:at:)``.
    public func recordProgress(_ id: LaunchID, _ progress: TaskProgress, at moment: Moment) {
        note(.progress(progress), of: id, at: moment)
    }

    /// Ends a launch; see ``StoreWrite/end(_:progress:title:putBack:)``.
    public func endLaunch(
        _ id: LaunchID, _ end: LaunchEnd, at time: WallTime, cpuTime: Duration, cpuIsLowerBound: Bool,
        peakMemory: ByteCount?, network: NetworkBytes? = nil, progress: TaskProgress?,
        title: LaunchTitle? = nil, putBack: PutBack?
    ) async throws(StoreError) -> TaskRequest? {
        let ended = EndedLaunch(
            id: id, end: end, at: Moment(boot: .zero, monotonic: .zero, wall: time), cpuTime: cpuTime,
            cpuIsLowerBound: cpuIsLowerBound, peakMemory: peakMemory, network: network)
        return try await storeAnswer(to: .end(ended, progress: progress, title: title, putBack: putBack)) {
            if case .ended(let request) = $0 { .some(request) } else { nil }
        }
    }

    private func storeAnswer<Value>(
        to write: StoreWrite, _ pick: (StoreAnswer) -> Value?
    ) async throws(StoreError) -> Value {
        do throws(StoreRefusal) {
            return try await answer(to: write, pick)
        } catch {
            switch error {
            case .store(let failure): throw failure
            case .submission(let refusal): throw .misfit("\(refusal)")
            }
        }
    }

    private func answer<Value>(
        to write: StoreWrite, _ pick: (StoreAnswer) -> Value?
    ) async throws(StoreRefusal) -> Value {
        let answers = await commit([write])
        guard answers.count == 1 else { throw .store(.misfit("\(answers.count) answers to one write")) }
        let answer = try answers[0].get()
        guard let value = pick(answer) else { throw .store(.misfit("an answer of another kind of write")) }
        return value
    }
}

extension StoreError {
    /// The refusal of a submission that could not be stored.
    fileprivate func asSubmissionError(of identifier: TaskIdentifier) -> SubmissionError {
        SubmissionError(
            code: .unavailable, subject: identifier.rawValue,
            finding: "the request is not stored: \(subject): \(finding)", remedy: remedy)
    }

    /// An error for a store that breaks the contract of ``RequestStore/commit(_:)``.
    fileprivate static func misfit(_ found: String) -> Self {
        StoreError(
            code: .damaged, subject: "the request store", finding: "a write was answered with \(found)",
            remedy: "This is a fault in bgtask. Please report it")
    }
}
