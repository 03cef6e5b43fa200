import Scheduling
import TaskModel

/// Cancelling requests, and asking launches to stop.
extension HostCore {
    mutating func cancel(_ target: ControlTarget, _ call: CallID) {
        let found: [TaskRequest]
        let running: [LaunchID]
        switch target {
        case .request(let id):
            found = requests.pending[id].map { [$0] } ?? []
            running = launches.launch(of: id).map { [$0.record.id] } ?? []
        case .launch(let id):
            found = []
            running = launches[id] == nil ? [] : [id]
        case .identifier(let identifier):
            found = requests.requests(of: identifier)
            running = launches.all.filter { $0.record.identifier == identifier }.map(\.record.id).sorted()
        case .tag(let tag):
            found = requests.requests(with: tag)
            running = launches.all.filter { $0.record.tags.contains(tag) }.map(\.record.id).sorted()
        }
        // Launches that have ended, but whose end is not stored yet: their requests must not be put back.
        let over = unsavedEnds.indices.filter { index in
            let record = unsavedEnds[index].record
            return switch target {
            case .request(let id): record.request == id
            case .launch(let id): record.id == id
            case .identifier(let identifier): record.identifier == identifier
            case .tag(let tag): record.tags.contains(tag)
            }
        }
        for index in over { unsavedEnds[index].launch.isCancelled = true }
        cancel(
            found, running + over.map { unsavedEnds[$0].ended.id }, of: "\(target)", for: .call(call))
    }

    /// Cancels, for a handler, the pending request of an identifier or, with `nil`, all pending requests of
    /// its bundle.
    mutating func cancel(_ identifier: TaskIdentifier?, of id: LaunchID, _ call: UInt64) {
        guard let launch = launches[id] else { return }
        let candidates =
            identifier.map { requests.requests(of: $0) } ?? Array(requests.pending.values)
        let found = candidates.filter { $0.bundle == launch.record.bundle }
        cancel(
            found.sorted(by: RequestBook.isBefore), [],
            of: identifier.map { "\($0)" } ?? "\(launch.record.bundle)",
            for: .handler(id, call: call))
    }

    private mutating func cancel(
        _ found: [TaskRequest], _ running: [LaunchID], of target: String, for asker: CancellationBook.Asker
    ) {
        let entry = CancellationBook.Entry(
            asker: asker, target: target, requests: Set(found.map(\.id)), marks: Set(running),
            launches: running)
        guard !found.isEmpty || !running.isEmpty else { return settle(entry) }
        let number = cancellations.enter(entry)
        for id in running { stopForGood(id, number) }
        for request in found {
            _ = requests.beginWithdrawing(request.id)
            store(
                .cancel(request.id, .cancelledByUser, at: now.wall),
                .cancel(request.id, .cancelledByUser, .asker(number)))
        }
    }

    /// Stops a launch that a user cancelled, so that its request is not put back.
    ///
    /// The store records the cancellation before the caller, entry `number` of ``cancellations``, gets its
    /// answer. So the request is not put back even if the host crashes now.
    private mutating func stopForGood(_ id: LaunchID, _ number: Int) {
        launches[id]?.isCancelled = true
        let unsaved = unsavedEnds.first { $0.ended.id == id && $0.isUnderWay }?.launch
        if let launch = launches[id] ?? unsaved, launch.stage == .ending {
            // The store is recording the launch's end, which may put the request back. This write comes after
            // it and cancels the request.
            let request = launch.record.request
            _ = cancellations.settle(number) { $0.requests.insert(request) }
            store(
                .cancel(request, .cancelledByUser, at: now.wall),
                .cancel(request, .cancelledByUser, .asker(number)))
        }
        store(.markExpiring(id, .cancelledByUser, explanation: nil), .markCancelled(id, number))
        feed(.expireRequested(id, .cancelledByUser))
    }

    /// Cancels a pending request because the host decided to, not because a caller asked for it.
    mutating func cancel(_ id: RequestID, _ reason: Reason) {
        guard requests.pending[id] != nil else { return }
        guard requests.beginWithdrawing(id) else {
            // A caller's cancellation is under way. If the store does not take it, this one is tried.
            return requests.failCancellation(of: id, reason)
        }
        store(.cancel(id, reason, at: now.wall), .cancel(id, reason, .host))
    }

    mutating func withdrawn(
        _ id: RequestID, _ reason: Reason, _ canceller: Canceller,
        _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        var problem: SubmissionError?
        var isCancelled = false
        switch result {
        case .success(.cancelled(true)):
            isCancelled = true
            forget(id, reason)
            settleFollowers(of: id, succeeded: false)
        case .success:
            requests.endWithdrawing(id)
            // The request is not pending any more: it was launched or cancelled before. If it has a launch,
            // the user's cancellation applies to that.
            if case .asker(let number) = canceller, let launch = launches.launch(of: id) {
                let started = launch.record.id
                _ = cancellations.settle(number) { entry in
                    entry.requests.remove(id)
                    entry.launches.append(started)
                    entry.marks.insert(started)
                }
                return stopForGood(started, number)
            }
        case .failure(let refusal):
            log(.error, "the cancellation of \(id) could not be stored: \(refusal)")
            guard case .asker = canceller else {
                // The scheduler has removed the request already, so it stays marked as being cancelled until
                // the store can record that.
                requests.failCancellation(of: id, reason)
                return retryLater()
            }
            if requests.hasFailedCancellation(id) { retryLater() } else { requests.endWithdrawing(id) }
            problem = refusal.asSubmissionError
            // Its client may have left during the write.
            if let request = requests.pending[id] { cancelWithoutClient(request) }
        }
        guard case .asker(let number) = canceller else { return }
        let settled = cancellations.settle(number) { entry in
            entry.requests.remove(id)
            if isCancelled { entry.cancelled.append(id) }
            entry.problem = entry.problem ?? problem
        }
        if let settled { settle(settled) }
    }

    /// Handles the store's answer to the record that a user cancelled a launch.
    mutating func markedCancelled(
        _ id: LaunchID, _ number: Int, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        var problem: SubmissionError?
        if case .failure(let refusal) = result {
            log(.error, "its cancellation could not be stored: \(refusal)", launch: id)
            problem = refusal.asSubmissionError
        }
        let settled = cancellations.settle(number) { entry in
            entry.marks.remove(id)
            entry.problem = entry.problem ?? problem
        }
        if let settled { settle(settled) }
    }

    private mutating func settle(_ entry: CancellationBook.Entry) {
        switch entry.asker {
        case .handler(let id, let call):
            emit(.reply(id, call: call, entry.problem.map { .failure($0) } ?? .success([])))
        case .call(let call):
            if let problem = entry.problem { return refuse(call, problem) }
            if entry.cancelled.isEmpty && entry.launches.isEmpty {
                // Of the targets, only a tag has a blank in its text.
                let what = entry.target.contains(" ") ? "tag" : "name"
                return refuse(
                    call, notFound(entry.target, "no pending request and no running launch has this \(what)"))
            }
            answer(
                call,
                .cancelled(
                    Cancellation(requests: entry.cancelled.sorted(), launches: entry.launches.sorted())))
        }
    }

    /// Removes a request after the store has recorded its cancellation.
    ///
    /// The caller settles those that wait for its success.
    mutating func forget(_ id: RequestID, _ reason: Reason) {
        guard let request = requests.pending[id] else { return }
        let start = requests.endStart(id)
        requests.remove(id)
        vetoes.forget(id)
        emit(.publish(.requestCancelled(id, request.identifier, reason)))
        log(
            .info,
            reason.outcomeWhilePending == .failed ? "\(id) failed, \(reason.rawValue)" : "cancelled \(id)",
            identifier: request.identifier)
        failLaunchWaiters(
            of: id,
            SubmissionError(
                code: .unavailable, subject: "\(request.identifier)",
                finding: "\(id) was cancelled before it started",
                remedy: "Launch the task again: bgtask launch \(request.identifier)"))
        // The scheduler counts the slot of a start as occupied. It must learn first that the start failed,
        // and then that the request is gone.
        if let start {
            removeDirectories(of: start)
            feed(.launchNotStarted(id, retry: now.wall + Self.startRetryDelay))
        }
        feed(.withdrawn(id))
        // If the request of a launch is put back, it must be the only pending one of its identifier. So while
        // there is such a launch, the request that waited for the cancelled one waits for the launch's
        // request instead, as in the store.
        if let earlier = launchedRequest(of: request.identifier), requests.isAppended(after: id) {
            requests.moveAppended(of: request.identifier, after: earlier)
        } else {
            release(after: id, request.identifier)
        }
    }

    /// The request of an identifier that the store has as launched; `nil` if there is none.
    private func launchedRequest(of identifier: TaskIdentifier) -> RequestID? {
        launches.launch(of: identifier)?.record.request
            ?? unsavedEnds.first { $0.record.identifier == identifier }?.record.request
    }

    /// Makes the request pending that waited for this one, which has ended.
    mutating func release(after id: RequestID, _ identifier: TaskIdentifier) {
        guard let next = requests.release(after: id, identifier) else { return }
        log(.info, "\(next.id) is pending now, because \(id) has ended", identifier: identifier)
        feed(.submitted(next))
        // Its client may have left while it waited.
        cancelWithoutClient(next)
    }

    mutating func expire(_ target: ControlTarget, _ reason: Reason, _ call: CallID) {
        guard reason.isExpiration else {
            return refuse(
                call,
                SubmissionError(
                    code: .invalidRequest, subject: reason.rawValue,
                    finding: "not a valid reason for an expiration",
                    remedy:
                        "Use one of: \(Reason.allCases.filter(\.isExpiration).map(\.rawValue).joined(separator: " "))"
                ))
        }
        let found: [LaunchID] = launches.all.filter { launch in
            guard launch.stage != .ending else { return false }
            return switch target {
            case .request(let id): launch.record.request == id
            case .launch(let id): launch.record.id == id
            case .identifier(let identifier): launch.record.identifier == identifier
            case .tag(let tag): launch.record.tags.contains(tag)
            }
        }.map(\.record.id).sorted()
        if found.isEmpty { return refuse(call, notFound("\(target)", "no running launch has this name")) }
        for id in found { feed(.expireRequested(id, reason)) }
        answer(call, .expiring(found))
    }
}
