public import TaskModel

/// A request store in memory, as a value; it must pass the same tests as the SQLite store.
///
/// The file is long because it has a method for each write and each question of the store.
///
/// The virtual hosts of simulations use it. A test can copy it to simulate a host that is killed: the next
/// host begins with the copy. Writes are durable immediately. Notes become durable with the next write; until
/// then, ``loseNotes()`` can discard them.
public struct MemoryStore: Equatable, Sendable {
    private struct Notes: Equatable {
        var readyAt: WallTime?
        var progress: TaskProgress?
    }

    private var requests: [RequestID: RequestRecord] = [:]
    /// The requests in state `pending`, by identifier.
    private var pending: [TaskIdentifier: RequestID] = [:]
    /// The requests that wait for another one of their identifier; their state is `pending`, too.
    private var appended: [TaskIdentifier: RequestID] = [:]
    /// The pending requests of queues, of which an identifier can have several.
    private var queued: Set<RequestID> = []
    private var checkpoints: [RequestID: [UInt8]] = [:]
    private var launches: [LaunchID: LaunchRecord] = [:]
    /// The launches that have not ended.
    private var open: Set<LaunchID> = []
    private var successes: [TaskIdentifier: WallTime] = [:]
    private var unwritten: [LaunchID: Notes] = [:]
    private var lastToken: Int64 = 0

    /// The stored facts; tests may replace them, for example by facts of an older version.
    public var facts = StoredFacts()

    /// Creates an empty store.
    public init() {}

    // MARK: Changes

    /// Performs writes in order, as one transaction.
    public mutating func commit(_ writes: [StoreWrite]) -> [Result<StoreAnswer, StoreRefusal>] {
        writes.map { apply($0) }
    }

    /// Performs one write; all notes become durable with it.
    public mutating func apply(_ write: StoreWrite) -> Result<StoreAnswer, StoreRefusal> {
        writeNotes()
        switch write {
        case .accept(let submission, let terms):
            // A refusal that comes late must leave nothing behind.
            let before = submission.predecessors.isEmpty ? nil : self
            let result = accept(submission, terms)
            if case .failure = result, let before { self = before }
            return result.map { .accepted($0) }.mapError { .submission($0) }
        case .cancel(let id, let reason, let time):
            guard let found = requests[id], found.state == .pending else {
                return .success(.cancelled(false))
            }
            keepBehindLaunch(found.request)
            end(id, reason.outcomeWhilePending, reason, at: time)
            return .success(.cancelled(true))
        case .begin(let id, let terms):
            return begin(id, terms).map { .begun($0) }.mapError { .store($0) }
        case .markExpiring(let id, let reason, let explanation):
            guard open.contains(id), launches[id]?.expiration == nil || reason == .cancelledByUser else {
                return .success(.done)
            }
            launches[id]?.expiration = reason
            launches[id]?.stopExplanation = explanation
            launches[id]?.state = .expiring
            return .success(.done)
        case .checkpoint(let id, let bytes):
            guard open.contains(id), let launch = launches[id] else { return .success(.saved(false)) }
            if !bytes.isEmpty, checkpoints[launch.request] != bytes { launches[id]?.hasNewCheckpoint = true }
            checkpoints[launch.request] = bytes
            return .success(.saved(true))
        case .end(let ended, let progress, let title, let putBack, let failure):
            return .success(end(ended, progress, title, putBack, failure))
        case .remember(let fact):
            remember(fact)
            return .success(.done)
        case .saveTransfer(let transfer):
            facts.transfers.removeAll { $0.id == transfer.id }
            facts.transfers.append(transfer)
            facts.lastTransfer = max(facts.lastTransfer, transfer.id.rawValue)
            return .success(.done)
        case .saveTransfers(let transfers):
            let ids = Set(transfers.map(\.id))
            facts.transfers.removeAll { ids.contains($0.id) }
            facts.transfers += transfers
            facts.lastTransfer = transfers.reduce(facts.lastTransfer) { max($0, $1.id.rawValue) }
            return .success(.done)
        case .removeTransfers(let ids):
            facts.transfers.removeAll { ids.contains($0.id) }
            return .success(.done)
        }
    }

    /// Adds a request that is pending in another store, and keeps its number.
    ///
    /// A pending request with the same identifier is removed.
    public mutating func restore(_ request: TaskRequest) {
        defer { facts.lastRequest = max(facts.lastRequest, request.id.rawValue) }
        if request.after != nil {
            requests[request.id] = RequestRecord(request: request, state: .pending)
            appended[request.identifier] = request.id
            return
        }
        if request.isQueued {
            requests[request.id] = RequestRecord(request: request, state: .pending)
            queued.insert(request.id)
            return
        }
        if let other = pending[request.identifier] { requests[other] = nil }
        requests[request.id] = RequestRecord(request: request, state: .pending)
        pending[request.identifier] = request.id
    }

    /// Stores a note about a launch: when it was ready, or its progress; readers see it immediately.
    ///
    /// The note is ignored if the launch has ended.
    public mutating func note(_ note: StoreNote, of launch: LaunchID) {
        guard open.contains(launch) else { return }
        var notes = unwritten[launch] ?? Notes()
        switch note {
        case .ready(let time): notes.readyAt = notes.readyAt ?? time.rounded
        case .progress(let progress): notes.progress = progress
        }
        unwritten[launch] = notes
    }

    /// Discards the notes that are not durable yet, as a kill of the host can do.
    public mutating func loseNotes() { unwritten = [:] }

    /// Ends all open launches as `lost`; some of their requests become pending again (see
    /// `RequestStore.recover`).
    public mutating func recover(_ terms: RecoveryTerms) -> Recovery {
        writeNotes()
        var recovery = Recovery()
        for id in open.sorted() {
            guard let launch = launches[id], let request = requests[launch.request]?.request else { continue }
            let (ended, putBack) = terms.settle(launch, request.attempts)
            let failure = terms.failure(of: launch, request, ended, putBack)
            if case .ended(let request?) = end(ended, nil, nil, putBack, failure) {
                recovery.putBack.append(request)
            }
            if let lost = launches[id] { recovery.lost.append(lost) }
        }
        recovery.pending = pendingRequests
        for identifier in terms.scheduled {
            let newest = launches(identifier: identifier, limit: 1, before: nil).first
            recovery.note(last: newest, of: identifier, newest.flatMap { requests[$0.request]?.request })
        }
        for record in requests.values.sorted(by: { $0.request.id < $1.request.id }) {
            recovery.note(cancelled: record, terms)
        }
        recovery.facts = facts
        return recovery
    }

    /// Removes old launches and requests; see `RequestStore.prune`.
    @discardableResult
    public mutating func prune(keepingNewest count: Int, olderThan time: WallTime) -> Int {
        let newest = Set(launches.keys.sorted(by: >).prefix(max(0, count)))
        let old = launches.values.filter { launch in
            !newest.contains(launch.id) && (launch.endedAt.map { $0 < time } ?? false)
        }
        for launch in old { launches[launch.id] = nil }
        let used = Set(launches.values.map(\.request))
        let forgotten = requests.values.filter { record in
            record.state == .done && !used.contains(record.request.id)
                && (record.endedAt.map { $0 < time } ?? false)
        }
        for record in forgotten { requests[record.request.id] = nil }
        return old.count + forgotten.count
    }

    // MARK: Reads

    /// All pending requests, oldest first.
    public var pendingRequests: [TaskRequest] {
        (Array(pending.values) + Array(appended.values) + Array(queued)).sorted().compactMap {
            requests[$0]?.request
        }
    }

    /// The request with this number, in any state; `nil` if there is none.
    public func request(_ id: RequestID) -> RequestRecord? { requests[id] }

    /// The request of a task with an idempotency key, in any state; `nil` if there is none.
    public func request(_ identifier: TaskIdentifier, key: String) -> RequestRecord? {
        requests.values.first {
            $0.request.identifier == identifier && $0.request.submission.idempotencyKey == key
        }
    }

    /// The checkpoint of a request's last launch; `nil` if there is none.
    public func checkpoint(of request: RequestID) -> [UInt8]? { checkpoints[request] }

    /// When a launch of this identifier last succeeded; `nil` for never.
    public func lastSuccess(of identifier: TaskIdentifier) -> WallTime? { successes[identifier] }

    /// A launch, with its newest notes.
    public func launch(_ id: LaunchID) -> LaunchRecord? { launches[id].map(withNotes) }

    /// The launches of one task or, with `nil`, of all tasks, newest first.
    public func launches(identifier: TaskIdentifier?, limit: Int, before: LaunchID?) -> [LaunchRecord] {
        launches(LaunchFilter(identifier: identifier), limit: limit, before: before)
    }

    /// The launches that a filter selects, newest first.
    public func launches(_ filter: LaunchFilter, limit: Int, before: LaunchID?) -> [LaunchRecord] {
        let chosen = launches.values.filter { launch in
            filter.selects(launch) && (before.map { launch.id < $0 } ?? true)
        }
        return chosen.sorted { $0.id > $1.id }.prefix(max(0, limit)).map(withNotes)
    }

    /// All launches of a request, in the order of their attempts.
    public func launches(of request: RequestID) -> [LaunchRecord] {
        launches.values.filter { $0.request == request }.sorted { $0.id < $1.id }.map(withNotes)
    }

    // MARK: Requests

    private mutating func accept(_ submission: TaskSubmission, _ terms: RequestTerms) -> Result<
        Acceptance, SubmissionError
    > {
        if let queue = terms.queue { return acceptQueued(submission, terms, queue) }
        if let key = submission.idempotencyKey,
            let earlier = request(submission.identifier, key: key)
        {
            return .success(
                Acceptance(request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil))
        }
        let found = pending[submission.identifier].flatMap { requests[$0]?.request }
        if let found, submission.origin == .schedule, found.submission.origin != .schedule {
            return .success(Acceptance(request: found, state: .pending, isRepeat: true, replaced: nil))
        }
        let waiting = appended[submission.identifier].flatMap { requests[$0]?.request }
        if submission.ifPending == .keep, let kept = found ?? waiting {
            return .success(
                Acceptance(request: kept, state: .pending, isRepeat: true, replaced: nil, isKept: true))
        }
        if let found, submission.isLessUrgent(than: found, kind: terms.kind) {
            return .failure(.moreUrgentWaits(submission.identifier, found.id))
        }
        var before: RequestID?
        if submission.ifPending == .append {
            before =
                found?.id
                ?? open.first { launches[$0]?.identifier == submission.identifier }
                .flatMap { launches[$0]?.request }
            if before != nil, let waiting {
                return .failure(.alreadyAppended(submission.identifier, waiting: waiting.id))
            }
        }
        let replaced = before == nil ? found : nil
        let taken = pendingRequests.count {
            $0.bundle == terms.bundle && $0.kind == terms.kind && $0.submission.origin != .schedule
                && $0.id != replaced?.id && !$0.isQueued
        }
        if let limit = terms.pendingLimit, submission.origin != .schedule, taken >= limit {
            return .failure(
                SubmissionError(
                    code: .tooManyPendingTaskRequests, subject: submission.identifier.rawValue,
                    finding:
                        "the bundle has \(taken) pending \(terms.kind.rawValue) requests already; the limit is \(limit)",
                    remedy: "Cancel one of them, or wait until one is launched"))
        }
        facts.lastRequest = terms.id?.rawValue ?? (facts.lastRequest + 1)
        let id = RequestID(rawValue: facts.lastRequest)
        if let waiting, before == nil { requests[waiting.id]?.request.after = id }
        if let replaced {
            end(replaced.id, .cancelled, .replaced, at: terms.acceptedAt)
            requests[replaced.id]?.replacedBy = id
            requests[replaced.id]?.request.submission.payload = nil
        }
        var request = terms.request(id, of: submission)
        request.after = before
        switch openPredecessors(of: request) {
        case .success(let open): request.openPredecessors = open
        case .failure(let error): return .failure(error)
        }
        requests[id] = RequestRecord(request: request, state: .pending)
        if before == nil { pending[submission.identifier] = id } else { appended[submission.identifier] = id }
        return .success(Acceptance(request: request, state: .pending, isRepeat: false, replaced: replaced))
    }

    /// Stores a request of a queue, unless one with the same key has not ended, or ended only recently.
    private mutating func acceptQueued(
        _ submission: TaskSubmission, _ terms: RequestTerms, _ queue: QueueTerms
    ) -> Result<Acceptance, SubmissionError> {
        if let key = submission.idempotencyKey,
            let earlier = request(submission.identifier, key: key)
        {
            if queue.isRepeat(of: earlier, at: terms.acceptedAt) {
                return .success(
                    Acceptance(
                        request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil))
            }
            requests[earlier.request.id]?.request.submission.idempotencyKey = nil
        }
        facts.lastRequest = terms.id?.rawValue ?? (facts.lastRequest + 1)
        var request = terms.request(RequestID(rawValue: facts.lastRequest), of: submission)
        switch openPredecessors(of: request) {
        case .success(let open): request.openPredecessors = open
        case .failure(let error): return .failure(error)
        }
        requests[request.id] = RequestRecord(request: request, state: .pending)
        queued.insert(request.id)
        return .success(Acceptance(request: request, state: .pending, isRepeat: false, replaced: nil))
    }

    /// The predecessors of a new request that have not succeeded, or why it can't wait for one.
    private func openPredecessors(of request: TaskRequest) -> Result<[RequestID], SubmissionError> {
        do {
            let open = try request.submission.findOpenPredecessors(isQueued: request.isQueued) {
                requests[$0]
            }
            return .success(open)
        } catch let error as SubmissionError {
            return .failure(error)
        } catch {
            return .success([])
        }
    }

    /// Handles the end of a request for those that wait for its success: it fulfils their wait, or ends
    /// them, too.
    private mutating func settleFollowers(of id: RequestID, _ outcome: Outcome, at time: WallTime) {
        if outcome == .succeeded {
            for follower in followers(of: id) {
                requests[follower]?.request.openPredecessors.removeAll { $0 == id }
            }
            return
        }
        var failed = [id]
        while let next = failed.popLast() {
            for follower in followers(of: next) {
                if let record = requests[follower] { keepBehindLaunch(record.request) }
                endAlone(follower, .failed, .predecessorFailed, at: time)
                failed.append(follower)
            }
        }
    }

    private func followers(of id: RequestID) -> [RequestID] {
        requests.values.filter { $0.state == .pending && $0.request.openPredecessors.contains(id) }
            .map(\.request.id).sorted()
    }

    /// If a request that ends came between a launch and the request that waits for both, the latter waits
    /// for the launch again.
    private mutating func keepBehindLaunch(_ ending: TaskRequest) {
        guard let waiting = appended[ending.identifier], requests[waiting]?.request.after == ending.id,
            let launch = open.first(where: { launches[$0]?.identifier == ending.identifier }),
            let launched = launches[launch]?.request
        else { return }
        requests[waiting]?.request.after = launched
    }

    private mutating func end(_ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime) {
        guard requests[id] != nil else { return }
        endAlone(id, outcome, reason, at: time)
        settleFollowers(of: id, outcome, at: time)
    }

    /// Ends a request without those that wait for its success.
    private mutating func endAlone(
        _ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime
    ) {
        guard var record = requests[id] else { return }
        let identifier = record.request.identifier
        if record.state == .pending, pending[identifier] == id { pending[identifier] = nil }
        if appended[identifier] == id { appended[identifier] = nil }
        queued.remove(id)
        record.request.after = nil
        record.state = .done
        record.outcome = outcome
        record.reason = reason
        record.endedAt = time.rounded
        requests[id] = record
        checkpoints[id] = nil
        guard let next = appended[identifier], requests[next]?.request.after == id else { return }
        requests[next]?.request.after = nil
        appended[identifier] = nil
        pending[identifier] = next
    }

    // MARK: Launches

    private mutating func begin(_ id: RequestID, _ terms: LaunchTerms) -> Result<BegunLaunch, StoreError> {
        guard let found = requests[id], found.state == .pending else {
            let finding = requests[id].map { "the request is \($0.state.rawValue)" }
            return .failure(
                StoreError(
                    code: .notPending, subject: "\(id)", finding: finding ?? "the store has no such request",
                    remedy: "Only a pending request can be launched"))
        }
        requests[id]?.state = .launched
        if found.request.isQueued {
            queued.remove(id)
        } else {
            pending[found.request.identifier] = nil
        }
        facts.lastLaunch = terms.id?.rawValue ?? (facts.lastLaunch + 1)
        lastToken += 1
        var launch = LaunchRecord(
            id: LaunchID(rawValue: facts.lastLaunch), request: found.request, token: lastToken,
            startedAt: terms.at.rounded, isolation: terms.isolation, libraryHash: terms.libraryHash,
            isSimulated: terms.isSimulated)
        launch.explanation = terms.explanation
        launches[launch.id] = launch
        open.insert(launch.id)
        return .success(
            BegunLaunch(
                record: launch, checkpoint: checkpoints[id], lastSuccess: successes[launch.identifier]))
    }

    private mutating func end(
        _ ended: EndedLaunch, _ progress: TaskProgress?, _ title: LaunchTitle?, _ putBack: PutBack?,
        _ failure: FailureSubmission?
    ) -> StoreAnswer {
        guard open.remove(ended.id) != nil, var launch = launches[ended.id] else {
            return .ended(putBack: nil)
        }
        launch.state = .ended
        launch.end = ended.end
        // The SQLite store has no columns for these two values, which are only needed to decide whether the
        // request is put back.
        launch.end?.completion = nil
        launch.end?.neverListened = false
        launch.endedAt = ended.at.wall.rounded
        launch.cpuTime = .nanoseconds(ended.cpuTime.wholeNanoseconds)
        launch.cpuIsLowerBound = ended.cpuIsLowerBound
        launch.peakMemory = ended.peakMemory
        launch.network = ended.network
        launch.progress = progress ?? launch.progress
        if let title {
            (launch.title, launch.subtitle) = (title.title, title.subtitle)
            requests[launch.request]?.request.submission.title = title.title
            requests[launch.request]?.request.submission.subtitle = title.subtitle
        }
        launches[ended.id] = launch
        if ended.end.outcome == .succeeded { successes[launch.identifier] = ended.at.wall.rounded }
        return settle(launch, ended.end, at: ended.at.wall, putBack, failure)
    }

    /// Makes the request of an ended launch pending again, or ends it and submits what its failure demands.
    private mutating func settle(
        _ launch: LaunchRecord, _ end: LaunchEnd, at time: WallTime, _ putBack: PutBack?,
        _ failure: FailureSubmission?
    ) -> StoreAnswer {
        guard let putBack, var record = requests[launch.request],
            pending[launch.identifier] == nil || record.request.isQueued
        else {
            self.end(launch.request, end.outcome, end.reason, at: time)
            guard let failure else { return .ended(putBack: nil) }
            return .endedInFailure(accept(failure.submission, failure.terms))
        }
        record.state = .pending
        record.request.putBack(putBack, at: time)
        requests[launch.request] = record
        if record.request.isQueued {
            queued.insert(launch.request)
        } else {
            pending[launch.identifier] = launch.request
        }
        return .ended(putBack: record.request)
    }

    // MARK: Facts and notes

    private mutating func remember(_ fact: StoredFact) {
        switch fact {
        case .bundleState(let bundle, let state): facts.bundleStates[bundle] = state
        case .launchedApp(let bundle, let hash): facts.launchedApps[bundle] = hash
        case .advice(let bundle, let advice): facts.advice[bundle] = advice
        case .boot(let boot): facts.boot = boot
        case .pause(let pause): facts.pause = pause
        case .transferUse(let bundle, let use): facts.transferUse[bundle] = use
        case .directoryRenamed(let bundle): facts.numberedDirectories[bundle] = nil
        }
    }

    private mutating func writeNotes() {
        for id in unwritten.keys { launches[id] = launch(id) }
        unwritten = [:]
    }

    private func withNotes(_ launch: LaunchRecord) -> LaunchRecord {
        guard launch.state != .ended, let notes = unwritten[launch.id] else { return launch }
        var launch = launch
        if let readyAt = notes.readyAt, launch.readyAt == nil {
            launch.readyAt = readyAt
            if launch.state == .starting { launch.state = .running }
        }
        launch.progress = notes.progress ?? launch.progress
        return launch
    }
}
