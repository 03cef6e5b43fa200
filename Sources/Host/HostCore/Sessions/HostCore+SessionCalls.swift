import ControlWire
import TaskModel

/// The questions of tasks about the background sessions of their bundles.
///
/// A task names sessions and transfers, never a bundle: the host knows the bundle of each launch, and answers
/// only about its own.
extension HostCore {
    mutating func takeSessionCall(_ bytes: [UInt8], of id: LaunchID, _ call: UInt64) {
        guard let bundle = launches[id]?.record.bundle else { return }
        let question: SessionQuestion
        do {
            question = try ControlJSON.decode(
                SessionQuestion.self, from: String(decoding: bytes, as: UTF8.self))
        } catch {
            return refuse(
                id, call, .invalidRequest, "the question about a session can't be read: \(error)",
                "Use the SDK of this version")
        }
        switch question.ask {
        case .next: next(id, call)
        case .attach: attach(question.session ?? "", bundle, id, call)
        case .list: list(question, bundle, id, call)
        case .detach:
            sessions.watchers[id]?.sessions.remove(question.session ?? "")
            passOnEnds(of: id, session: question.session)
            answerSession(id, call, SessionAnswer())
            launchForSessions(of: bundle)
        case .begin: begin(question, bundle, id, call)
        case .cancel: cancel(question, bundle, id, call)
        case .told: told(question, bundle, id, call)
        case .decide: decide(question, bundle, id, call)
        }
    }

    // MARK: News

    private mutating func attach(
        _ session: String, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        guard !session.isEmpty, session.utf8.count <= Self.longestSession else {
            return refuse(
                id, call, .invalidRequest,
                "the identifier of a session has 1 to \(Self.longestSession) bytes, and this one has "
                    + "\(session.utf8.count)", "Give the session another identifier")
        }
        var watcher = sessions.watchers[id] ?? SessionBook.Watcher(bundle: bundle)
        watcher.sessions.insert(session)
        sessions.watchers[id] = watcher
        answerSession(id, call, SessionAnswer())
    }

    private mutating func list(
        _ question: SessionQuestion, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        let key = SessionBook.Key(bundle: bundle, session: question.session ?? "")
        let last = question.transfer ?? TransferID(rawValue: 0)
        var answer = SessionAnswer()
        for following in sessions.transfers(of: key) where following > last {
            guard let transfer = transfers[following],
                transfer.state != .ended || sessions.takeEnd(of: transfer, id)
            else { continue }
            answer.news = SessionTransfer(transfer, asks: isAsking(about: transfer))
            break
        }
        answerSession(id, call, answer)
    }

    /// The greatest length of a session's identifier, in bytes.
    private static let longestSession = 255

    private mutating func next(_ id: LaunchID, _ call: UInt64) {
        guard sessions.watchers[id] != nil, sessions.watchers[id]?.waiting == nil else {
            return refuse(
                id, call, .invalidRequest, "it follows no session, or waits for news already",
                "Attach to a session first, and wait with one call at a time")
        }
        sessions.watchers[id]?.waiting = call
        tellNews(to: id)
    }

    /// Answers a launch that waits for news, if there are any.
    private mutating func tellNews(to id: LaunchID) {
        guard let call = sessions.watchers[id]?.waiting else { return }
        while let changed = sessions.watchers[id]?.next() {
            // What its delegate has handled is no news.
            guard let transfer = transfers[changed], transfer.isTold != true else { continue }
            let asks = isAsking(about: transfer)
            guard let news = SessionTransfer(transfer, asks: asks),
                transfer.state != .ended || sessions.takeEnd(of: transfer, id)
            else { continue }
            sessions.watchers[id]?.waiting = nil
            var answer = SessionAnswer()
            answer.news = news
            return answerSession(id, call, answer)
        }
    }

    /// Tells other launches of the ends that a launch has not handled, because it leaves their sessions: one
    /// of them or, with `nil`, all.
    mutating func passOnEnds(of launch: LaunchID, session: String? = nil) {
        for id in sessions.releaseEnds(of: launch, session: session) {
            if let transfer = transfers[id] { changedSession(of: transfer) }
        }
    }

    /// Tells the launches that have taken over its session of a change.
    mutating func changedSession(of transfer: Transfer) {
        guard let key = SessionBook.key(of: transfer) else { return }
        // The end counts when it is durable.
        if transfer.state != .ended { sessions.note(transfer) }
        for id in sessions.holders(of: key) {
            sessions.watchers[id]?.note(transfer.id)
            tellNews(to: id)
        }
    }

    // MARK: Transfers

    private mutating func begin(
        _ question: SessionQuestion, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        guard phase == .serving else {
            return refuse(id, call, .unavailable, "the host is stopping", "Begin the task at the next launch")
        }
        guard let session = question.session, let asked = question.request else {
            return refuse(id, call, .invalidRequest, "no session or no request is named", "Name both")
        }
        guard sessions.count(of: bundle) < SessionBook.mostTransfers else {
            return refuse(
                id, call, .tooManyPendingTaskRequests,
                "the sessions of \(bundle) have \(SessionBook.mostTransfers) transfers that are open or whose "
                    + "ends their delegates have not handled",
                "Wait until some have ended and their delegates have heard of it. The host launches the bundle for "
                    + "that, if its manifest has a task of the kind transferEvents")
        }
        var request = asked.request(bundle, session)
        // A transfer that no user waits for is made at a good moment.
        if let kind = launches[id]?.record.kind, kind != .appLaunch, kind != .continuedProcessing {
            request.isDiscretionary = true
        }
        lastTransfer += 1
        let number = TransferID(rawValue: lastTransfer)
        if request.direction == .download { request.handover = "\(number)" }
        if let problem = request.problem ?? Self.problem(withNoteOf: request) {
            return refuse(id, call, .invalidRequest, problem.finding, problem.remedy)
        }
        if let from = request.resumes {
            guard var old = transfers[from], old.request.bundle == bundle, old.keepsPart == true else {
                return refuse(
                    id, call, .notFound, "the resume data names no download that can be continued",
                    "Begin the download again from its address")
            }
            // Both rows are written together, and the bytes move only then.
            old.keepsPart = nil
            put(old)
        }
        var transfer = Transfer(id: number, request: request, submittedAt: now.wall.rounded)
        let old = request.resumes.flatMap { transfers[$0] }
        transfer.completed = old?.completed ?? 0
        store(
            .saveTransfers([old, transfer].compactMap(\.self)), .beginInSession(transfer, id, call: call))
    }

    private static func problem(withNoteOf request: TransferRequest) -> (finding: String, remedy: String)? {
        guard let note = request.note, note.utf8.count > 4096 else { return nil }
        return ("the description of the task is longer than 4 KiB", "Give it a shorter one")
    }

    mutating func begunInSession(
        _ transfer: Transfer, _ id: LaunchID, _ call: UInt64, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            if var old = transfer.request.resumes.flatMap({ transfers[$0] }) {
                old.keepsPart = true
                put(old)
            }
            let error = refusal.asSubmissionError
            return refuse(id, call, error.code, error.finding, error.remedy)
        }
        if let old = transfer.request.resumes { emit(.transfer(.move(old, to: transfer.id))) }
        sessions.began(transfer.id, id)
        put(transfer)
        adviseToDeclareEvents(transfer, id)
        var answer = SessionAnswer()
        answer.transfer = transfer.id
        answer.completed = transfer.request.resumes == nil ? nil : transfer.completed
        answerSession(id, call, answer)
    }

    /// Advises about a session whose transfers launch nothing, though it wants launches.
    private mutating func adviseToDeclareEvents(_ transfer: Transfer, _ id: LaunchID) {
        guard let key = SessionBook.key(of: transfer), transfer.request.sendsLaunchEvents != false,
            declaredEvents(of: key) == nil, let record = launches[id]?.record
        else { return }
        advise(
            record, "noTransferEvents",
            "the manifest has no task of the kind transferEvents, so the end of the transfers of the session "
                + "\(key.session) launches nothing: its delegate learns of it only when a process of the bundle "
                + "makes the session again. Add a task: {identifier: \(key.bundle).transfers, kind: transferEvents}, "
                + "or set sessionSendsLaunchEvents to false")
    }

    private mutating func cancel(
        _ question: SessionQuestion, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        guard var transfer = own(question.transfer, bundle) else { return refuseForeign(id, call) }
        guard transfer.state == .waiting || transfer.state == .running else {
            // It has ended already, or its file is being put into its place; the session learns of that.
            return answerSession(id, call, SessionAnswer())
        }
        let keeps = question.keeps == true
        if transfer.state == .running {
            emit(.transfer(.cancel(transfer.id)))
            if keeps {
                // The bytes are complete only when the attempt has ended.
                return sessions.wait(for: transfer.id, id, call)
            }
        }
        endByTask(&transfer, keeps: keeps)
        var answer = SessionAnswer()
        answer.transfer = transfer.id
        answer.resumable = keeps && transfer.completed > 0
        answerSession(id, call, answer)
    }

    private mutating func endByTask(_ transfer: inout Transfer, keeps: Bool) {
        transfer.failure = TransferFailure(.cancelled, "the app cancelled it")
        transfer.keepsPart = keeps && transfer.completed > 0 ? true : nil
        transfer.conclude(.cancelled, at: now.wall)
        conclude(transfer)
    }

    /// Ends a transfer that was cancelled with its bytes kept, now that its attempt has ended.
    ///
    /// - Returns: False for any other transfer, and for one that has just become complete.
    mutating func endCancelled(_ transfer: inout Transfer, _ end: TransferAttemptEnd) -> Bool {
        guard let (launch, call) = sessions.takeCancelling(transfer.id) else { return false }
        guard end.kind != .finished else {
            answerSession(launch, call, SessionAnswer())
            return false
        }
        transferMarks[transfer.id] = nil
        transfer.completed = end.completed ?? transfer.completed
        endByTask(&transfer, keeps: true)
        var answer = SessionAnswer()
        answer.transfer = transfer.id
        answer.resumable = transfer.completed > 0
        answerSession(launch, call, answer)
        return true
    }

    /// Answers the task that waits for the end of a cancelled transfer's attempt, because the transfer has
    /// ended before that in another way.
    mutating func answerCancelling(of transfer: Transfer) {
        guard let (launch, call) = sessions.takeCancelling(transfer.id) else { return }
        var answer = SessionAnswer()
        answer.transfer = transfer.id
        answer.resumable = transfer.keepsPart == true
        answerSession(launch, call, answer)
    }

    private mutating func told(
        _ question: SessionQuestion, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        guard var transfer = own(question.transfer, bundle) else { return refuseForeign(id, call) }
        guard transfer.isUntold else { return answerSession(id, call, SessionAnswer()) }
        transfer.isTold = true
        transfer.answer = nil
        let handled = transfer
        transfer.answerFile = nil
        sessions.note(transfer)
        for old in transfers.retire(transfer) { forget(old) }
        if transfer.request.direction == .upload { emit(.transfer(.discard(handled))) }
        store(.saveTransfer(transfer), .told(transfer.id, id, call: call))
    }

    mutating func told(
        _ transfer: TransferID, _ id: LaunchID, _ call: UInt64, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            // After a restart, the delegate learns of the transfer again.
            log(.warning, "the host could not store that the delegate of \(transfer) was told: \(refusal)")
        }
        answerSession(id, call, SessionAnswer())
    }

    // MARK: The date of a transfer

    /// Whether the host waits for a delegate's decision about a transfer.
    private func isAsking(about transfer: Transfer) -> Bool {
        transfer.state == .waiting && transfer.request.asksBeforeBegin == true
            && sessions.wasAsked(about: transfer.id) && transfer.notBefore.map { $0 > now.wall } == true
    }

    /// How long the host waits for a delegate's decision: 30 s.
    private static let decisionTime = Duration.seconds(30)

    /// Asks the delegate about a transfer whose date has come, if a launch has its session.
    ///
    /// - Returns: Whether the transfer waits for the decision.
    mutating func ask(about transfer: Transfer) -> Bool {
        guard transfer.request.asksBeforeBegin == true, transfer.request.earliestBeginDate != nil,
            transfer.attempts == 0, let key = SessionBook.key(of: transfer), sessions.isHeld(key),
            sessions.ask(about: transfer.id)
        else { return false }
        var waiting = transfer
        waiting.notBefore = (now.wall + Self.decisionTime).rounded
        put(waiting)
        return true
    }

    private mutating func decide(
        _ question: SessionQuestion, _ bundle: BundleIdentifier, _ id: LaunchID, _ call: UInt64
    ) {
        guard var transfer = own(question.transfer, bundle) else { return refuseForeign(id, call) }
        answerSession(id, call, SessionAnswer())
        guard transfer.state == .waiting, transfer.attempts == 0 else { return }
        _ = sessions.ask(about: transfer.id)
        switch question.decision ?? .proceed {
        case .cancel: return endByTask(&transfer, keeps: false)
        case .proceed: break
        case .replace:
            guard let new = question.request else { break }
            var request = transfer.request
            (request.url, request.method, request.headers) = (new.url, new.method, new.headers ?? [])
            if request.problem == nil { transfer.request = request }
        }
        transfer.notBefore = nil
        put(transfer)
        store(.saveTransfer(transfer), .transfer(transfer.id))
    }

    // MARK: Answers

    /// The transfer of a session of this bundle; `nil` if there is none with this number.
    private func own(_ id: TransferID?, _ bundle: BundleIdentifier) -> Transfer? {
        guard let transfer = id.flatMap({ transfers[$0] }), transfer.request.bundle == bundle,
            SessionBook.key(of: transfer) != nil
        else { return nil }
        return transfer
    }

    mutating func answerSession(_ id: LaunchID, _ call: UInt64, _ answer: SessionAnswer) {
        do {
            emit(.replyToSession(id, call: call, .success(Array(try ControlJSON.line(answer)))))
        } catch {
            refuse(id, call, .unavailable, "the answer can't be encoded: \(error)", "Report this as a fault")
        }
    }

    private mutating func refuseForeign(_ id: LaunchID, _ call: UInt64) {
        refuse(
            id, call, .notFound, "the sessions of this bundle have no such transfer",
            "To list the transfers: bgtask transfers")
    }

    private mutating func refuse(
        _ id: LaunchID, _ call: UInt64, _ code: SubmissionError.Code, _ finding: String, _ remedy: String
    ) {
        let error = SubmissionError(code: code, subject: "\(id)", finding: finding, remedy: remedy)
        let count = sessions.refusals[id, default: 0] + 1
        sessions.refusals[id] = count
        if count <= SessionBook.loggedRefusals { log(.warning, "refused: \(error)", launch: id) }
        if count == SessionBook.loggedRefusals {
            log(.warning, "further refused calls of this launch are not logged", launch: id)
        }
        emit(.replyToSession(id, call: call, .failure(error)))
    }
}
