import HandlerRegistry
import Scheduling
import TaskModel

/// A submission or call that waits for work outside the core.
enum Parked: Sendable {
    /// A submission that no manifest permits; it waits until the directories have been read again.
    case unpermitted(TaskSubmission, Submitter, process: Int32?)
    /// A submission that waits until its payload has been checked against the manifest.
    case unchecked(TaskSubmission, Submitter, client: ClientID?)
    /// A call about a bundle or identifier that no manifest has; it waits until the directories have been
    /// read again.
    case call(CallID, HostCall)
}

/// The steps from a submission to a request: it is permitted, checked, admitted and stored.
extension HostCore {
    /// Handles a submission.
    ///
    /// - Parameters:
    ///   - submission: The submission.
    ///   - submitter: The submitter, which gets the result.
    ///   - process: The process that submitted it. If that is a client with a handler for the identifier, the
    ///     request runs in it.
    ///   - isRescanned: Whether the directories were read again for this submission already.
    mutating func submit(
        _ submission: TaskSubmission, for submitter: Submitter, from process: Int32? = nil,
        isRescanned: Bool = false
    ) {
        let identifier = submission.identifier
        guard phase == .serving else { return refuse(submission, submitter, notServing("\(identifier)")) }
        if let problem = Self.problem(withTitlesOf: submission) {
            return refuse(submission, submitter, problem)
        }
        if case .handler(let id, let call) = submitter, let bundle = launches[id]?.record.bundle,
            let refusal = refusal(ofRate: bundle, identifier, id)
        {
            return emit(.reply(id, call: call, .failure(refusal)))
        }
        if case .handler(let id, _) = submitter, isForeign(identifier, to: id) {
            // The directories are not read again here, because a handler could cause that a thousand times a
            // second.
            return refuse(submission, submitter, foreign(identifier, to: id))
        }
        if declaration(for: identifier) == nil, !isRescanned {
            // A user may submit just after copying the files, before the watch of the directories reports
            // them.
            let ticket = nextWork()
            parked[ticket] = .unpermitted(submission, submitter, process: process)
            return emit(.work(.scan(ticket)))
        }
        guard let handler = handler(for: identifier) else {
            return refuse(submission, submitter, notPermitted(identifier))
        }
        let client = clients.client(of: process, for: identifier)
        if client == nil, submission.origin == .client, let problem = problem(withShownPartsOf: submission) {
            return refuse(submission, submitter, problem)
        }
        guard client != nil || handler.canLaunch(identifier) else {
            return refuse(submission, submitter, noClient(for: identifier))
        }
        let sandbox = handler.manifest.sandbox
        let readsFiles =
            declaration(for: identifier)?.hasOwnProgram == true || !sandbox.read.isEmpty
            || !sandbox.write.isEmpty
        if readsFiles {
            let ticket = nextWork()
            parked[ticket] = .unchecked(submission, submitter, client: client)
            return emit(.work(.checkPayload(ticket, handler, identifier, payload: submission.payload)))
        }
        do {
            try handler.manifest.checkPayload(submission.payload, for: identifier, dataDirectory: nil)
        } catch {
            return refuse(submission, submitter, error)
        }
        admit(submission, submitter, client: client)
    }

    /// Counts a submission of a handler; returns the refusal if its bundle has submitted too many.
    ///
    /// The log names only the first refusal of each flood.
    private mutating func refusal(
        ofRate bundle: BundleIdentifier, _ identifier: TaskIdentifier, _ id: LaunchID
    ) -> SubmissionError? {
        let limit = scheduler.settings.submissionsPerMinute
        guard case .exceeded(let wait, let isFirst) = rates.take(of: bundle, perMinute: limit, at: now.boot)
        else { return nil }
        let milliseconds = max(1, Int((wait / .milliseconds(1)).rounded(.up)))
        let error = SubmissionError(
            code: .tooManyPendingTaskRequests, subject: "\(identifier)",
            finding:
                "the handlers of \(bundle) may submit \(limit) requests a minute, and have submitted more",
            remedy: "Submit fewer requests, or wait; the next one is accepted in \(milliseconds) ms. An "
                + "administrator can raise scheduling.submissionsPerMinute")
        if isFirst {
            log(.warning, "refused, and so are all others until the rate falls: \(error)", launch: id)
        }
        return error
    }

    /// The greatest length of a title or subtitle, in bytes; the same as for a title that a running task
    /// sets.
    private static let longestTitle = 1024

    /// Why a launch could not be given the submission's title or subtitle; `nil` if it can.
    private static func problem(withTitlesOf submission: TaskSubmission) -> SubmissionError? {
        for (name, text) in [("title", submission.title), ("subtitle", submission.subtitle)] {
            let finding: String
            if text.utf8.contains(0) {
                finding = "its \(name) contains a NUL character"
            } else if text.utf8.count > longestTitle {
                finding = "its \(name) has \(text.utf8.count) bytes; the limit is \(longestTitle)"
            } else {
                continue
            }
            return SubmissionError(
                code: .invalidRequest, subject: "\(submission.identifier)", finding: finding,
                remedy: "Give it a shorter \(name) without control characters")
        }
        return nil
    }

    /// Why a submission can't have a title or the strategy `fail`; `nil` if it has none, or if its task is
    /// continued, so that the user sees the title and waits for the start.
    ///
    /// This is for people who type commands. Apps may give a title to every request.
    private func problem(withShownPartsOf submission: TaskSubmission) -> SubmissionError? {
        guard let kind = declaration(for: submission.identifier)?.kind, kind != .continuedProcessing else {
            return nil
        }
        let part: String
        if !submission.title.isEmpty || !submission.subtitle.isEmpty {
            part = "a title"
        } else if submission.strategy == .fail {
            part = "the strategy 'fail'"
        } else {
            return nil
        }
        return SubmissionError(
            code: .invalidRequest, subject: "\(submission.identifier)",
            finding: "it has \(part), and its kind is \(kind.rawValue)",
            remedy: "Leave it out: only tasks of the kind continuedProcessing have titles and strategies")
    }

    /// Resumes a submission or call after the directories were read again.
    mutating func resume(_ parked: Parked) {
        switch parked {
        case .unpermitted(let submission, let submitter, let process):
            submit(submission, for: submitter, from: process, isRescanned: true)
        case .call(let call, let asked): take(asked, of: call, isRescanned: true)
        case .unchecked: break
        }
    }

    /// Resumes a submission after its payload was checked; `problem` is `nil` if the payload is valid.
    mutating func resume(_ parked: Parked, _ problem: SubmissionError?) {
        guard case .unchecked(let submission, let submitter, let client) = parked else { return }
        if let problem { return refuse(submission, submitter, problem) }
        // The client may have left, and the manifest may have been removed, during the check.
        let present = client.flatMap { clients[$0]?.id }
        guard present != nil || handler(for: submission.identifier)?.canLaunch(submission.identifier) != false
        else { return refuse(submission, submitter, noClient(for: submission.identifier)) }
        admit(submission, submitter, client: present)
    }

    private mutating func admit(
        _ submission: TaskSubmission, _ submitter: Submitter, client: ClientID?
    ) {
        var submission = submission
        if RetryKey.isKey(submission.idempotencyKey), submission.ifPending == .append,
            requests.request(of: submission.identifier)?.submission.origin == .schedule
        {
            // It does the work that the schedule's request would do, and need not wait for the next date.
            submission.ifPending = .replace
        }
        do {
            try checkKey(submission)
            try checkQueue(submission)
            try checkPredecessors(submission)
            let admission = try scheduler.admit(submission, at: now)
            var terms = RequestTerms(
                bundle: admission.bundle, kind: admission.kind, acceptedAt: now.wall,
                deadline: admission.deadline, pendingLimit: admission.pendingLimit)
            if let queue = queue(for: submission) {
                let isRetry = RetryKey.isKey(submission.idempotencyKey)
                terms.queue = QueueTerms(unique: isRetry ? QueueDeclaration.longestUnique : queue.unique)
                terms.pendingLimit = nil
            }
            let canForesee = canForesee(submission, submitter, terms)
            let id = accept(submission, terms, submitter, client: client)
            if canForesee {
                let request = terms.request(id, of: submission)
                requests.foresee(request)
                requests.setClient(client, of: id)
                feed(.submitted(request))
            }
        } catch {
            refuse(submission, submitter, error)
        }
    }

    private mutating func accept(
        _ submission: TaskSubmission, _ terms: RequestTerms, _ submitter: Submitter, client: ClientID?
    ) -> RequestID {
        lastRequest += 1
        var terms = terms
        let id = RequestID(rawValue: lastRequest)
        terms.id = id
        requests.beginSubmission(of: submission.identifier)
        store(.accept(submission, terms), .accept(submitter, submission.identifier, id, client: client))
        return id
    }

    /// Whether the store will accept a submission as it is, unless a write fails.
    ///
    /// Then the scheduler gets the request at once, so that the request and its launch can share a commit.
    /// The store's answer is not known in these cases: the submission has an idempotency key, a request of
    /// its identifier is pending or being stored, or a launch's end, which may put a request back, is not
    /// stored yet.
    private func canForesee(
        _ submission: TaskSubmission, _ submitter: Submitter, _ terms: RequestTerms
    ) -> Bool {
        switch submitter {
        case .call, .handler: break
        case .simulation, .installation, .schedule, .session: return false
        }
        let identifier = submission.identifier
        guard terms.queue == nil, submission.idempotencyKey == nil, submission.ifPending != .append,
            submission.predecessors.isEmpty,
            requests.request(of: identifier) == nil, requests.appended(to: identifier) == nil,
            !requests.isSubmitting(identifier), unsavedEnds.isEmpty,
            !launches.all.contains(where: {
                $0.stage == .ending && !$0.hasFreedSlot && $0.record.bundle == terms.bundle
            })
        else { return false }
        return terms.pendingLimit.map { requests.count(of: terms.bundle, terms.kind) < $0 } ?? true
    }

    /// Stores a request of a schedule, which the scheduler has admitted.
    mutating func submitScheduled(
        _ identifier: TaskIdentifier, _ bundle: BundleIdentifier, earliest: WallTime, deadline: WallTime
    ) {
        guard let kind = declaration(for: identifier)?.kind else { return }
        var submission = TaskSubmission(identifier: identifier, origin: .schedule)
        submission.earliestBeginDate = earliest
        let terms = RequestTerms(
            bundle: bundle, kind: kind, acceptedAt: now.wall, deadline: deadline, pendingLimit: nil)
        _ = accept(submission, terms, .schedule, client: nil)
    }

    // MARK: The store's answer

    mutating func accepted(
        _ submitter: Submitter, _ identifier: TaskIdentifier, _ id: RequestID, client: ClientID?,
        _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        requests.endSubmission(of: identifier)
        switch result {
        case .success(.accepted(let acceptance)):
            let wasForeseen = requests.confirm(id)
            // If the store found a repeat, the new number is not used, so the next request gets it.
            if acceptance.isRepeat, id.rawValue == lastRequest { lastRequest -= 1 }
            // A repeated request that is still pending runs in the client that repeated it, because the
            // client that first submitted it may be gone.
            if let client, acceptance.state == .pending, !acceptance.isKept {
                requests.setClient(clients[client]?.id, of: acceptance.request.id)
            }
            if !acceptance.isRepeat { take(acceptance, wasForeseen: wasForeseen) }
            // For a schedule, a repeat means that a client's request is pending, which stays. The schedule
            // must not wait for an answer any more, or it would never submit again.
            if acceptance.isRepeat, case .schedule = submitter { feed(.scheduleNotStored(identifier)) }
            answer(submitter, acceptance)
            // If the client left during the write, there may be no process that can run the request.
            if let client, clients[client] == nil, !acceptance.isKept {
                cancelWithoutClient(acceptance.request)
            }
        case .success: return
        case .failure(let refusal):
            if requests.foreseen.contains(id) {
                takeBack(id, refusal.asSubmissionError)
            } else if id.rawValue == lastRequest {
                lastRequest -= 1
            }
            if case .schedule = submitter {
                log(
                    .error, "the request of its schedule was not stored: \(refusal)", identifier: identifier)
                return feed(.scheduleNotStored(identifier))
            }
            refuse(
                TaskSubmission(identifier: identifier, origin: .client), submitter, refusal.asSubmissionError)
            // The retry submits the app's launch again; nothing else does.
            if case .installation = submitter { retryLater() }
        }
    }

    /// Removes a foreseen request that the store did not accept.
    ///
    /// The store will also refuse the start of its launch.
    private mutating func takeBack(_ id: RequestID, _ error: SubmissionError) {
        if let start = requests.endStart(id) {
            removeDirectories(of: start)
            feed(.launchNotStarted(id, retry: now.wall + Self.startRetryDelay))
        }
        requests.remove(id)
        vetoes.forget(id)
        feed(.withdrawn(id))
        failLaunchWaiters(of: id, error)
    }

    /// Adds an accepted request, and notifies the scheduler and the followers of events.
    ///
    /// If the request was foreseen, the scheduler has it already.
    mutating func take(_ acceptance: Acceptance, wasForeseen: Bool) {
        let request = acceptance.request
        var replaces = ""
        if let replaced = acceptance.replaced, replaced.id != request.id {
            // The scheduler counts the slot of the start as occupied, but the store will refuse that start.
            if let start = requests.endStart(replaced.id) {
                removeDirectories(of: start)
                feed(.launchNotStarted(replaced.id, retry: now.wall + Self.startRetryDelay))
            }
            requests.remove(replaced.id)
            vetoes.forget(replaced.id)
            settleFollowers(of: replaced.id, succeeded: false)
            replaces = ", replaces \(replaced.id)"
            emit(.publish(.requestCancelled(replaced.id, replaced.identifier, .replaced)))
            failLaunchWaiters(
                of: replaced.id,
                SubmissionError(
                    code: .unavailable, subject: "\(replaced.identifier)",
                    finding: "\(request.id) replaced its request before it started",
                    remedy: "Launch the task again: bgtask launch \(replaced.identifier)"))
        }
        emit(.publish(.requestAccepted(request)))
        let order =
            (request.after.map { "\($0)" } ?? request.openPredecessorWords).map { ", after \($0)" }
            ?? request.failedLaunch.map { ", because \($0) failed" } ?? ""
        log(.info, "accepted \(request.id)\(replaces)\(order)", identifier: request.identifier)
        if wasForeseen { return vetoes.enter(request.id) }
        requests.insert(request)
        // The scheduler gets a request that waits for another one only when that other one has ended.
        // Of a queue, it gets the first request when the events are passed on.
        if request.after != nil || request.isQueued { return vetoes.enter(request.id) }
        requests.moveAppended(of: request.identifier, after: request.id)
        guard request.openPredecessors.isEmpty else {
            // The new request would have taken the place of the replaced one in the scheduler.
            if let replaced = acceptance.replaced { feed(.withdrawn(replaced.id)) }
            return vetoes.enter(request.id)
        }
        feed(.submitted(request))
    }

    private mutating func answer(_ submitter: Submitter, _ acceptance: Acceptance) {
        switch submitter {
        case .call(let call): answer(call, .accepted(acceptance))
        case .handler(let id, let call): emit(.reply(id, call: call, .success([acceptance.request])))
        case .simulation(let call, let debug, let learn):
            simulate(acceptance.request, call, debug: debug, learn: learn)
        case .installation(let bundle, let hash):
            store(
                .remember(.launchedApp(bundle, libraryHash: hash)),
                .fact("that the app of \(bundle) is launched"))
        case .schedule, .session: return
        }
    }

    mutating func refuse(
        _ submission: TaskSubmission, _ submitter: Submitter, _ error: SubmissionError
    ) {
        let identifier = submission.identifier
        switch submitter {
        case .call(let call), .simulation(let call, _, _):
            log(.notice, "refused: \(error)", identifier: identifier)
            refuse(call, error)
        case .handler(let id, let call):
            log(.warning, "refused: \(error)", launch: id, identifier: identifier)
            emit(.reply(id, call: call, .failure(error)))
        case .installation(let bundle, _):
            launchedApps[bundle] = nil
            log(.error, "its app is not launched: \(error)", identifier: identifier)
        case .schedule: log(.error, "refused: \(error)", identifier: identifier)
        case .session(let key):
            sessions.endLaunch(of: key)
            log(
                .error, "the events of the session \(key.session) can't be delivered: \(error)",
                identifier: identifier)
        }
    }

    // MARK: Errors

    func notServing(_ subject: String) -> SubmissionError {
        SubmissionError(
            code: .unavailable, subject: subject,
            finding: "the host is \(phase == .starting ? "starting" : "stopping")",
            remedy: "Try again when the host is running")
    }

    private func noClient(for identifier: TaskIdentifier) -> SubmissionError {
        SubmissionError(
            code: .unavailable, subject: "\(identifier)",
            finding: "it runs only in client programs, and this request did not come from a connected one",
            remedy: "Start the program that registers for it, or add a 'library' to its manifest")
    }

    /// Whether an identifier belongs to another bundle than the launch.
    private func isForeign(_ identifier: TaskIdentifier, to id: LaunchID) -> Bool {
        guard let bundle = launches[id]?.record.bundle else { return true }
        return handler(for: identifier)?.manifest.bundle != bundle
    }

    private func foreign(_ identifier: TaskIdentifier, to id: LaunchID) -> SubmissionError {
        guard let bundle = launches[id]?.record.bundle else {
            return SubmissionError(
                code: .unavailable, subject: "\(id)", finding: "the launch has ended",
                remedy: "Submit the request before the task completes")
        }
        return SubmissionError(
            code: .notPermitted, subject: "\(identifier)",
            finding: "the manifest of \(bundle) does not permit it",
            remedy: "Add the identifier to that manifest's tasks")
    }
}
