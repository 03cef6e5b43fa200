import Scheduling
import TaskModel

/// The end of a launch that the store failed to record; the host tries again.
struct UnsavedEnd: Sendable {
    var launch: OpenLaunch
    var ended: EndedLaunch
    /// Whether another attempt is under way.
    var isUnderWay = false

    var record: LaunchRecord { launch.record.ended(ended) }
}

/// The end of launches: the store records it, and the launch's request is put back if the rules demand that.
extension HostCore {
    mutating func ended(_ ended: EndedLaunch) {
        let id = ended.id
        guard var launch = launches[id], launch.stage != .ending else { return }
        launch.stage = .ending
        launches[id] = launch
        if launch.client == nil { emit(.work(.removeTemporary(id))) }
        noteFlap(of: launch, ended)
        let (final, putBack) = conclusion(of: launch, ended)
        storeEnd(of: launch, final, putBack: putBack)
        // The request is not put back, so the slot can be released before the store answers. The end of this
        // launch and the start of the next can then share a commit.
        if putBack == nil {
            launches[id]?.hasFreedSlot = true
            feed(.launchEnded(id, putBack: nil, ending: ending(of: launch, final)))
        }
    }

    private mutating func storeEnd(of launch: OpenLaunch, _ ended: EndedLaunch, putBack: PutBack?) {
        let (record, submission) = (launch.record, launch.request.submission)
        let failure = failure(of: launch, ended, putBack: putBack)
        let hasNewTitle = record.title != submission.title || record.subtitle != submission.subtitle
        store(
            .end(
                ended, progress: record.progress,
                title: hasNewTitle ? LaunchTitle(title: record.title, subtitle: record.subtitle) : nil,
                putBack: putBack, onFailure: failure),
            .end(ended))
    }

    private func ending(of launch: OpenLaunch, _ ended: EndedLaunch) -> LaunchEnding {
        // Only a handler that completed must have ended its assertions. A process that died did not leak
        // them.
        let leaks = ended.end.completion == nil ? 0 : launch.openAssertions.count
        return LaunchEnding(
            outcome: ended.end.outcome, expiration: launch.record.expiration, cpuTime: ended.cpuTime,
            leakedAssertions: leaks, libraryHash: launch.record.libraryHash)
    }

    /// Decides whether the request of an ended launch is put back, and until when it must wait.
    ///
    /// - Returns: The end as it is stored, which differs if the host gives the request up; and how the
    ///   request is put back, or `nil` if it ends with the launch.
    private func conclusion(of launch: OpenLaunch, _ ended: EndedLaunch) -> (EndedLaunch, PutBack?) {
        let (record, request, end) = (launch.record, launch.request, ended.end)
        if launch.isCancelled { return (ended, nil) }
        // The host has given the request up already, and only stores this end again.
        if end.reason == .attemptsWithoutProgress { return (ended, nil) }
        // The handler was never called, so even a task with `delivery: atMostOnce` is tried again. The
        // attempt does not count, because the request has no part in the shortage.
        if end.reason == .shortage {
            let wait = ended.at.wall + Self.startRetryDelay
            return (ended, PutBack(notBefore: wait, attempts: request.attempts))
        }
        let counts = PutBackRule.counts(end.outcome, expiration: record.expiration)
        let attempts = request.attempts.following(record, counts: counts)
        if PutBackRule.applies(
            kind: record.kind, outcome: end.outcome, completed: end.completion != nil,
            expiration: record.expiration, isAtMostOnce: launch.isAtMostOnce,
            neverListened: end.neverListened)
        {
            if counts && attempts.withoutProgress >= scheduler.settings.attemptsWithoutProgress {
                var final = ended
                final.end = end.givenUp(after: attempts.withoutProgress)
                return (final, nil)
            }
            let wait =
                counts
                ? backOff(after: attempts, of: launch, ended)
                : flaps.dwell(of: record.request, scheduler.settings)
            let notBefore = wait > .zero ? ended.at.wall + wait : nil
            let putBack = PutBack(notBefore: notBefore, attempts: attempts)
            return (ended, putBack)
        }
        let declaration = declaration(for: request)
        let retry = PutBackRule.retryDelay(
            outcome: end.outcome, expiration: record.expiration, retry: declaration?.retry,
            failures: request.failures
        ).map { PutBack(notBefore: ended.at.wall + $0, isRetry: true, attempts: attempts) }
        return (ended, retry)
    }

    /// Counts an attempt that conditions stopped soon after its start.
    private mutating func noteFlap(of launch: OpenLaunch, _ ended: EndedLaunch) {
        let (record, request) = (launch.record, launch.request)
        let isFurther = record.progress.map { $0.isFurther(than: request.attempts.furthest) } ?? false
        if ended.end.outcome == .expired, record.expiration?.isByCondition == true,
            FlapBook.counts(
                runTime: ended.at.wall - record.startedAt, gotFurther: isFurther || record.hasNewCheckpoint)
        {
            flaps.note(request.id, at: ended.at.boot)
        } else {
            flaps.forget(request.id)
        }
    }

    /// How long the next attempt must wait after an attempt that ended by its own doing.
    private func backOff(
        after attempts: AttemptHistory, of launch: OpenLaunch, _ ended: EndedLaunch
    ) -> Duration {
        let settings = scheduler.settings
        var wait = Duration.zero
        // What ended the launcher or the host may do so again, so a lost launch always waits.
        if ended.end.outcome == .lost {
            wait = settings.backOff(afterLosses: max(1, attempts.withoutProgress), of: launch.request.id)
        } else if attempts.withoutProgress > 0 {
            wait = settings.backOff(afterAttempts: attempts.withoutProgress, of: launch.request.id)
        }
        // The back-off lets other requests take the slot first, even if their bundles had more service.
        if launch.record.expiration == .leaseEnded {
            wait = max(wait, min(settings.backOffBase, settings.backOffLimit))
        }
        if let limit = limits(of: launch.request).cpu, !launch.isCPURelaxed {
            let elapsed = launch.readyAt.map { ended.at.monotonic - $0.monotonic } ?? .zero
            let isExceeded = launch.record.expiration == .cpuLimit
            wait = max(
                wait,
                PutBackRule.cpuWait(
                    used: ended.cpuTime, within: elapsed, limit: limit, isExceeded: isExceeded))
        }
        return min(wait, settings.longestBackOff(of: declaration(for: launch.request)))
    }

    mutating func endStored(_ ended: EndedLaunch, _ result: Result<StoreAnswer, StoreRefusal>) {
        let id = ended.id
        if let index = unsavedEnds.firstIndex(where: { $0.ended.id == id }) {
            return retriedEnd(at: index, result)
        }
        guard let launch = launches[id] else { return }
        switch result {
        case .success(.ended(let putBack)):
            if let call = launch.reporter { answer(call, .done) }
            finish(launch, ended, putBack: putBack)
        case .success(.endedInFailure(let submitted)):
            if let call = launch.reporter { answer(call, .done) }
            finish(launch, ended, putBack: nil)
            self.submitted(for: launch.record, submitted)
        case .success: return
        case .failure(let refusal):
            // The record of the end stays in memory until the store can take it. The slot of the launch is
            // free, but its request is not put back yet, because the store still has it as launched.
            log(.error, "its end was not stored yet: \(refusal)", launch: id)
            unsavedEnds.append(UnsavedEnd(launch: launch, ended: ended))
            retryLater()
            if let call = launch.reporter { refuse(call, refusal.asSubmissionError) }
            finish(launch, ended, putBack: nil, isStored: false)
        }
    }

    /// Ends a launch in memory, and publishes that.
    ///
    /// With `isStored` false, the store has not recorded the end yet. Then the request may still be put back,
    /// so it keeps its client, and the request that waits for it goes on waiting.
    private mutating func finish(
        _ launch: OpenLaunch, _ ended: EndedLaunch, putBack: TaskRequest?, isStored: Bool = true
    ) {
        let record = launch.record.ended(ended)
        answerReadyWaiters(of: record.id)
        log(
            ended.end.outcome.logLevel, ended.end.summary(putBack: putBack),
            launch: record.id, identifier: record.identifier)
        launches.remove(record.id)
        removeCopies(after: launch)
        // If the user cancelled the launch after its end but before the store's answer, the request must not
        // be put back.
        let isUnwanted = launch.isCancelled && putBack != nil
        if let putBack {
            requests.insert(putBack)
        } else if isStored {
            requests.setClient(nil, of: record.request)
        }
        advise(after: ended.end, of: launch, putBack: putBack)
        emit(.publish(.launchEnded(record, putBack: putBack)))
        if !launch.hasFreedSlot {
            let ending = ending(of: launch, ended)
            feed(.launchEnded(record.id, putBack: isUnwanted ? nil : putBack, ending: ending))
        }
        if isUnwanted {
            cancel(record.request, .cancelledByUser)
        } else if let putBack {
            // The client that ran it may have left.
            cancelWithoutClient(putBack)
        } else if isStored {
            release(after: record.request, record.identifier)
            settleFollowers(of: record.request, succeeded: ended.end.outcome == .succeeded)
        }
        leftSessions(launch, ended)
    }

    // MARK: Ends that the store could not take

    /// Plans another attempt for failed writes.
    ///
    /// An attempt that is planned already is not delayed, so that frequent failures can't postpone it
    /// forever.
    mutating func retryLater() { nextRetry = nextRetry ?? now.boot + Self.storeRetryDelay }

    /// Makes all failed writes again.
    mutating func retryWrites() {
        nextRetry = nil
        for (id, reason) in requests.takeFailedCancellations() {
            store(.cancel(id, reason, at: now.wall), .cancel(id, reason, .host))
        }
        for index in unsavedEnds.indices where !unsavedEnds[index].isUnderWay {
            unsavedEnds[index].isUnderWay = true
            let launch = unsavedEnds[index].launch
            // The settings may have changed, so that the host gives the request up now.
            let (final, putBack) = conclusion(of: launch, unsavedEnds[index].ended)
            unsavedEnds[index].ended = final
            storeEnd(of: launch, final, putBack: putBack)
        }
        launchInstalledApps()
        retryTransferEnds()
    }

    private mutating func retriedEnd(at index: Int, _ result: Result<StoreAnswer, StoreRefusal>) {
        let unsaved = unsavedEnds[index]
        guard case .success(let stored) = result else {
            unsavedEnds[index].isUnderWay = false
            retryLater()
            return
        }
        unsavedEnds.remove(at: index)
        log(
            .notice, "its end is stored now", launch: unsaved.record.id,
            identifier: unsaved.record.identifier)
        guard case .ended(let putBack?) = stored else {
            requests.setClient(nil, of: unsaved.record.request)
            release(after: unsaved.record.request, unsaved.record.identifier)
            settleFollowers(
                of: unsaved.record.request, succeeded: unsaved.ended.end.outcome == .succeeded)
            if case .endedInFailure(let submitted) = stored { self.submitted(for: unsaved.record, submitted) }
            return
        }
        requests.insert(putBack)
        // The user may have cancelled the launch during the new attempt.
        if unsaved.launch.isCancelled { return cancel(putBack.id, .cancelledByUser) }
        if !putBack.isQueued { feed(.submitted(putBack)) }
        cancelWithoutClient(putBack)
    }
}

extension LaunchEnd {
    /// The end in one line for the log: `expired, leaseEnded; put back as attempt 2, after a back-off of
    /// about 5s`.
    func summary(putBack: TaskRequest?) -> String {
        var text = outcome.rawValue
        if let reason { text += ", \(reason.rawValue)" }
        if let message { text += ": \(message)" }
        if leftovers > 0 {
            text +=
                "; \(leftovers.counted("process", "processes")) outlived it and \(leftovers == 1 ? "was" : "were") killed"
        }
        if let putBack {
            text += "; put back as attempt \(putBack.attempt)"
            if let notBefore = putBack.notBefore, notBefore > putBack.waitingSince {
                let milliseconds = notBefore.milliseconds - putBack.waitingSince.milliseconds
                let backOff = Duration.seconds((milliseconds + 999) / 1000)
                text += ", after a back-off of about \(DurationText.format(backOff))"
            }
        }
        return text
    }
}

extension Outcome {
    /// The level of the line about the end of a launch.
    ///
    /// An end that the host or a user wanted is a change of state; any other one is a warning, because the
    /// host copes with it, and its user may have to look.
    fileprivate var logLevel: LogLine.Level {
        switch self {
        case .succeeded: .info
        case .expired, .cancelled: .notice
        case .failed, .killed, .crashed, .lost: .warning
        }
    }
}
