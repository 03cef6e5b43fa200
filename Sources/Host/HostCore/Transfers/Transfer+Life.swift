import TaskModel

/// The life of a transfer: how its state changes with the reports about it.
extension Transfer {
    /// What the host does after an attempt has ended.
    enum Step: Equatable {
        /// The file must be put into this place.
        case deliver(to: TransferPlace)
        /// The transfer waits for another attempt.
        case wait
        /// The transfer has ended.
        case end
    }

    /// Begins an attempt.
    mutating func begin() {
        state = .running
        attempts += 1
        notBefore = nil
    }

    /// Handles the end of an attempt.
    ///
    /// - Parameters:
    ///   - attempt: How it ended.
    ///   - progressed: Whether the attempt brought a byte that was not there before.
    ///   - now: The present time.
    /// - Returns: What follows.
    mutating func end(_ attempt: TransferAttemptEnd, progressed: Bool, at now: WallTime) -> Step {
        if let completed = attempt.completed, request.direction == .download { self.completed = completed }
        failure = attempt.failure
        if request.session != nil, let measured = attempt.metrics { metrics = measured }
        if request.session != nil { answer = attempt.answer }
        answerFile = nil
        switch attempt.kind {
        case .finished:
            // If the file could not be put into its place the last time, the waits go on doubling.
            if progressed { failures = 0 }
            failure = nil
            total = request.direction == .download ? completed : total
            if request.direction == .upload { completed = total ?? completed }
            guard let place = request.place ?? takeAnswer(attempt) else {
                return conclude(.succeeded, at: now)
            }
            state = .finishing
            return .deliver(to: place)
        case .refused:
            guard let place = takeAnswer(attempt) else { return conclude(.refused, at: now) }
            state = .finishing
            return .deliver(to: place)
        case .futile: return conclude(.failed, at: now)
        case .faulty, .busy:
            return wait(progressed: progressed, atLeast: attempt.retryAfter ?? .zero, at: now)
        case .lost:
            // The program that makes transfers ended. The first two times in a row, something else is taken
            // as the cause, and the transfer goes on at once. Then the transfer itself may be the cause, so
            // it waits.
            if progressed || failures < 2 {
                failures += progressed ? 0 : 1
                state = .waiting
                return .wait
            }
            return wait(progressed: false, atLeast: .zero, at: now)
        case .cancelled:
            // The host stopped the attempt, because the conditions do not permit it any more.
            state = .waiting
            failure = nil
            return .wait
        }
    }

    /// Handles the result of putting the file into its place.
    ///
    /// - Parameters:
    ///   - problem: Why the file could not be put there; `nil` if it is there.
    ///   - now: The present time.
    /// - Returns: What follows.
    mutating func deliver(_ problem: TransferFailure?, at now: WallTime) -> Step {
        if request.direction == .upload {
            // The server has the file, whatever becomes of its answer.
            if problem != nil { answerFile = nil }
            return conclude(failure == nil ? .succeeded : .refused, at: now)
        }
        guard let problem else { return conclude(.succeeded, at: now) }
        failure = problem
        if problem.isOfPlace { return conclude(.failed, at: now) }
        return wait(progressed: false, atLeast: .zero, at: now)
    }

    /// Where the file with the answer to an upload belongs; `nil` if there is none, or if no delegate gets
    /// it.
    private mutating func takeAnswer(_ attempt: TransferAttemptEnd) -> TransferPlace? {
        guard attempt.hasAnswerFile, request.direction == .upload, request.session != nil,
            request.handover != nil
        else { return nil }
        let name = "answer-\(id)"
        answerFile = name
        return .handover(request.bundle, name)
    }

    /// Ends the transfer.
    @discardableResult
    mutating func conclude(_ outcome: TransferOutcome, at now: WallTime) -> Step {
        state = .ended
        self.outcome = outcome
        if outcome == .succeeded { failures = 0 }
        endedAt = now.rounded
        notBefore = nil
        return .end
    }

    /// Whether the transfer's own directory is still needed.
    ///
    /// Without a place of its own, a downloaded file stays there until the host forgets the transfer. The
    /// bytes of a session's download that did not succeed can stay there, so that another can continue it.
    var keepsFiles: Bool {
        let isFileHere = outcome == .succeeded && request.direction == .download && request.place == nil
        return outcome == nil || isFileHere || keepsPart == true
    }

    /// Ends the transfer because its time is over.
    mutating func expire(at now: WallTime) {
        let last = failure.map { "; the last attempt: \($0.message)" } ?? ""
        failure = TransferFailure(
            .timedOut, "it did not end within \(DurationText.format(request.resourceLimit))\(last)")
        conclude(.failed, at: now)
    }

    /// Waits for the next attempt: longer with each attempt in a row that brought nothing.
    private mutating func wait(progressed: Bool, atLeast least: Duration, at now: WallTime) -> Step {
        failures = progressed ? 1 : failures + 1
        let factor = 1 << min(failures - 1, 20)
        // A record of an older host can have no delay.
        let delay = min(
            max(request.retryDelay, TransferRequest.shortestRetryDelay) * factor,
            TransferRequest.longestRetryDelay)
        // A server can't hold a transfer for longer than this, whatever it asks for.
        let asked = min(least, TransferRequest.longestWait)
        notBefore = (now + max(delay, asked)).rounded
        state = .waiting
        return .wait
    }
}

extension TransferRequest {
    /// The longest wait that a server can ask for with `Retry-After`: 1 h.
    static let longestWait = Duration.seconds(3600)
}
