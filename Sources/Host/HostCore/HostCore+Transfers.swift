import Scheduling
public import TaskModel

/// Transfers that the host makes itself, apart from its launches.
extension HostCore {
    /// The longest wait of a host that stops for the ends of attempts: 2 s.
    ///
    /// Our choice: the program answers in milliseconds, unless the disk is slow.
    private static let longestTransferStop = Duration.seconds(2)

    // MARK: Calls

    mutating func beginTransfer(_ request: TransferRequest, _ call: CallID) {
        guard phase == .serving else { return refuse(call, notServing("bgtaskd")) }
        if let refusal = Self.refusal(of: request) { return refuse(call, refusal) }
        let transfer = makeTransfer(request)
        if let refusal = claimPlaces([transfer]) { return refuse(call, refusal) }
        store(.saveTransfer(transfer), .acceptTransfer(transfer, call))
    }

    /// Makes several transfers with one write; one request that is not valid refuses all.
    mutating func beginTransfers(_ requests: [TransferRequest], _ call: CallID) {
        guard phase == .serving else { return refuse(call, notServing("bgtaskd")) }
        for request in requests {
            if let refusal = Self.refusal(of: request) { return refuse(call, refusal) }
        }
        let transfers = requests.map { makeTransfer($0) }
        if let refusal = claimPlaces(transfers) { return refuse(call, refusal) }
        store(.saveTransfers(transfers), .acceptTransfers(transfers, call))
    }

    /// Notes the files of new downloads; if one belongs to another download, says so and notes none.
    private mutating func claimPlaces(_ new: [Transfer]) -> SubmissionError? {
        for transfer in new {
            guard let owner = transfers.places.claim(transfer) else { continue }
            for other in new { transfers.places.release(other) }
            // They were the newest, so their numbers are free again.
            lastTransfer -= Int64(new.count)
            let isOfCall = new.contains { $0.id == owner }
            return SubmissionError(
                code: .invalidRequest, subject: transfer.request.file ?? transfer.request.url,
                finding: isOfCall
                    ? "two downloads of the call have this file"
                    : "\(owner) downloads to this file, and has not ended",
                remedy: isOfCall
                    ? "Give each a file of its own"
                    : "Give another file, wait for the end of \(owner), or cancel it: bgtask cancel \(owner)")
        }
        return nil
    }

    private static func refusal(of request: TransferRequest) -> SubmissionError? {
        request.problem.map {
            SubmissionError(
                code: .invalidRequest, subject: shortened(request.url), finding: $0.finding,
                remedy: $0.remedy)
        }
    }

    /// An address that a message can contain: its first 200 characters.
    private static func shortened(_ url: String) -> String {
        url.count > 200 ? url.prefix(200) + "..." : url
    }

    private mutating func makeTransfer(_ request: TransferRequest) -> Transfer {
        lastTransfer += 1
        return Transfer(
            id: TransferID(rawValue: lastTransfer), request: request, submittedAt: now.wall.rounded)
    }

    mutating func cancelTransfer(_ id: TransferID, _ call: CallID) {
        func refuse(_ finding: String, _ remedy: String) {
            self.refuse(
                call, SubmissionError(code: .notFound, subject: "\(id)", finding: finding, remedy: remedy))
        }
        guard var transfer = transfers[id] else {
            return refuse("the host knows no such transfer", "To list the transfers: bgtask transfers")
        }
        switch transfer.state {
        case .ended:
            return refuse("the transfer has ended already", "To see how it ended: bgtask transfers")
        case .finishing:
            // Too late to cancel: the file could appear in its place after the answer that the transfer has
            // ended.
            return refuse(
                "the transfer is complete, and the host is putting the file into its place",
                "Wait until 'bgtask transfers' shows its end, then remove the file")
        case .running: emit(.transfer(.cancel(id)))
        case .waiting: break
        }
        transfer.failure = TransferFailure(.cancelled, "a user cancelled it")
        transfer.conclude(.cancelled, at: now.wall)
        conclude(transfer, call)
    }

    mutating func transferAccepted(
        _ transfer: Transfer, _ call: CallID, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            transfers.places.release(transfer)
            return refuse(call, refusal.asSubmissionError)
        }
        put(transfer)
        answer(call, .transfer(transfer))
    }

    mutating func transfersAccepted(
        _ accepted: [Transfer], _ call: CallID, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            for transfer in accepted { transfers.places.release(transfer) }
            return refuse(call, refusal.asSubmissionError)
        }
        for transfer in accepted { put(transfer) }
        answer(call, .transfers(accepted.map(\.id)))
    }

    // MARK: Beginning

    /// Restores the transfers of the store; those that were under way wait again.
    mutating func restoreTransfers(_ facts: StoredFacts) {
        lastTransfer = facts.lastTransfer
        transferUse = facts.transferUse
        for stored in facts.transfers.sorted(by: { $0.id < $1.id }) {
            var transfer = stored
            if transfer.state != .ended { transfer.state = .waiting }
            for old in transfers.put(transfer, at: now) { forget(old) }
            sessions.note(transfer)
        }
        // A row that can't be read may be that of a transfer whose files a newer version can use.
        if facts.unreadable.isEmpty {
            let uploads = transfers.all.filter { $0.state != .ended && $0.request.direction == .upload }
            emit(
                .transfer(
                    .sweep(
                        keeping: Set(transfers.all.filter(\.keepsFiles).map(\.id)),
                        uploads: Set(uploads.compactMap(\.request.handover))
                            .union(transfers.all.compactMap(\.answerFile)))))
        }
    }

    /// Begins the transfers that may begin, and stops those that may not go on.
    mutating func runTransfers() {
        guard transfers.hasOpen, phase == .serving else { return }
        for var transfer in transfers.takeOverdue(at: now.boot) {
            if transfer.state == .running { emit(.transfer(.cancel(transfer.id))) }
            transfer.expire(at: now.wall)
            conclude(transfer)
        }
        let (spent, isEmpty) = (bundlesOverBudget(at: now), isBudgetEmpty)
        allowBytes()
        var answers: [TransferBook.Terms: Bool] = [:]
        func may(_ terms: TransferBook.Terms) -> Bool {
            if let answer = answers[terms] { return answer }
            let isSpent = isEmpty || spent.contains(terms.bundle)
            let answer = !isSpent && !scheduler.holds(terms.request, at: now)
            answers[terms] = answer
            return answer
        }
        // Those in reserve go first, or they would take the places of the others.
        for terms in transfers.reserve.terms where !may(terms) {
            for id in transfers.reserve.ids(with: terms) where !stoppedTransfers.contains(id) {
                stopTransfer(id)
            }
        }
        for id in transfers.running.sorted() where !stoppedTransfers.contains(id) {
            if let transfer = transfers[id], !may(TransferBook.Terms(transfer.request)) { stopTransfer(id) }
        }
        while var transfer = transfers.next(at: now.wall, may) {
            if ask(about: transfer) { continue }
            let isReserved = transfers.reserve.remove(transfer.id)
            stoppedTransfers.remove(transfer.id)
            transfer = begin(transfer)
            emit(
                .transfer(
                    isReserved
                        ? .promote(transfer.id) : .begin(transfer, bytesLeft: bytesLeft(of: transfer))))
        }
        for (transfer, rank) in transfers.takeReserves(may) {
            emit(.transfer(.reserve(transfer, rank: rank, bytesLeft: bytesLeft(of: transfer))))
        }
        // One at a time: a place that becomes free may be enough.
        if stoppedTransfers.isEmpty, let id = transfers.yielding(may) { stopTransfer(id) }
    }

    /// Notes that an attempt begins.
    @discardableResult
    mutating func begin(_ waiting: Transfer) -> Transfer {
        var transfer = waiting
        transfer.begin()
        transferMarks[transfer.id] = TransferMark(begun: transfer.completed)
        put(transfer)
        return transfer
    }

    mutating func stopTransfer(_ id: TransferID) {
        stoppedTransfers.insert(id)
        emit(.transfer(.cancel(id)))
    }

    /// Stops all attempts, because the host stops, so that their bytes are counted.
    mutating func stopTransfers() {
        for id in transfers.reserve.ids where !stoppedTransfers.contains(id) { stopTransfer(id) }
        guard !transfers.running.isEmpty else { return }
        transferStop = now.boot + Self.longestTransferStop
        for id in transfers.running.sorted() where !stoppedTransfers.contains(id) { stopTransfer(id) }
    }

    /// Whether no attempt is under way in a host that stops, or it has waited for long enough.
    var haveTransfersStopped: Bool {
        transfers.running.isEmpty || transferStop.map { $0 <= now.boot } ?? true
    }

    /// When the host must look at its transfers again, on the wall clock.
    mutating func transferDate() -> WallTime? {
        guard phase == .serving else { return nil }
        let renewal = transfers.hasOpen && !bundlesOverBudget(at: now).isEmpty ? midnight(after: now) : nil
        return [transfers.nextDate(), renewal].compactMap(\.self).min()
    }

    /// When the host must look at its transfers again, on CLOCK_BOOTTIME.
    var transferAlarm: Duration? { phase == .serving ? transfers.nextDeadline : transferStop }

    // MARK: Questions

    /// The verdicts about the next attempt of each transfer, oldest first.
    public func explainedTransfers(at now: Moment) -> [ExplainedTransfer] {
        // Very many transfers wait for the same reasons, which are found once.
        var found: [VetoKey: [Verdict]] = [:]
        return transfers.all.map { transfer in
            guard transfer.state == .waiting else { return ExplainedTransfer(transfer: transfer, vetoes: []) }
            let key = VetoKey(transfer.request)
            let vetoes = found[key] ?? self.vetoes(of: transfer, at: now)
            found[key] = vetoes
            return ExplainedTransfer(transfer: transfer, vetoes: vetoes)
        }
    }

    /// What the verdicts about a transfer depend on.
    private struct VetoKey: Hashable {
        let terms: TransferBook.Terms
        let earliestBeginDate: WallTime?

        init(_ request: TransferRequest) {
            (terms, earliestBeginDate) = (TransferBook.Terms(request), request.earliestBeginDate)
        }
    }

    /// One transfer with its verdicts and its forecast; `nil` if the host does not know it.
    public func explainedTransfer(_ id: TransferID, at now: Moment) -> ExplainedTransfer? {
        guard let transfer = transfers[id] else { return nil }
        var found = explained(transfer, at: now)
        // A budget that is used up is no condition, so its end at midnight is all that is known.
        if !found.vetoes.isEmpty, budgetVeto(of: transfer.request.bundle, at: now) == nil {
            found.forecast = scheduler.forecast(
                transfer.request, notBefore: transfer.notBefore, from: history, at: now)
        }
        return found
    }

    private func explained(_ transfer: Transfer, at now: Moment) -> ExplainedTransfer {
        ExplainedTransfer(
            transfer: transfer, vetoes: transfer.state == .waiting ? vetoes(of: transfer, at: now) : [])
    }

    /// The policies that hold a transfer that waits.
    private func vetoes(of transfer: Transfer, at now: Moment) -> [Verdict] {
        scheduler.verdicts(of: transfer.request, at: now).filter(\.isVeto)
            + [budgetVeto(of: transfer.request.bundle, at: now)].compactMap(\.self)
    }

    // MARK: Storing

    /// Replaces a transfer and publishes its change.
    mutating func put(_ transfer: Transfer) {
        for old in transfers.put(transfer, at: now) { forget(old) }
        changedSession(of: transfer)
        emit(.publish(.transferChanged(transfer)))
    }

    /// Ends a transfer: its followers and the caller learn of it when it is durable.
    mutating func conclude(_ ended: Transfer, _ call: CallID? = nil) {
        var transfer = ended
        transfer.keepsPart = sessions.keepsPart(of: ended)
        if let mark = transferMarks.removeValue(forKey: transfer.id) {
            abandonedMarks[transfer.id] = (transfer.request.bundle, mark)
        }
        stoppedTransfers.remove(transfer.id)
        unstoredEnds.insert(transfer.id)
        if transfers.reserve.remove(transfer.id) {
            emit(.transfer(.cancel(transfer.id)))
            // The program may have begun it already.
            abandonedMarks[transfer.id] = (transfer.request.bundle, TransferMark(begun: transfer.completed))
        }
        for old in transfers.put(transfer, at: now) { forget(old) }
        // The files go before the end is durable, because on a full disk it becomes durable only then. If the
        // host dies in between, the transfer begins again from its first byte.
        if transfer.outcome == .cancelled, !transfer.keepsFiles { emit(.transfer(.remove(transfer.id))) }
        answerCancelling(of: transfer)
        let level: LogLine.Level = transfer.outcome == .failed ? .warning : .info
        log(
            level,
            // The whole address can contain a password or a signature.
            "\(transfer.id) \(transfer.outcome?.rawValue ?? ""): \(transfer.request.server)"
                + (transfer.failure.map { ": \($0.message)" } ?? ""))
        if endedTogether != nil {
            endedTogether?.ended.append(transfer)
        } else {
            store(.saveTransfer(transfer), .endTransfer(transfer, call, isRepeated: false))
            saveTransferUse()
        }
    }

    mutating func save(_ transfer: Transfer) {
        store(.saveTransfer(transfer), .transfer(transfer.id))
        if endedTogether == nil { saveTransferUse() }
    }

    mutating func saveTransferUse() {
        for bundle in changedTransferUse.sorted() {
            if let use = transferUse[bundle] {
                store(.remember(.transferUse(bundle, use)), .fact("the bytes of \(bundle)'s transfers"))
            }
        }
        changedTransferUse = []
    }

    mutating func forget(_ transfer: Transfer) {
        let id = transfer.id
        sessions.forget(id)
        if endedTogether != nil {
            endedTogether?.forgotten.append(id)
        } else {
            store(.removeTransfers([id]), .fact("that \(id) is forgotten"))
        }
        // The files of the others were removed at their ends.
        if transfer.keepsFiles { emit(.transfer(.remove(id))) }
    }

    /// Handles the store's answer to several ends, none of which a caller waits for.
    mutating func transfersEnded(_ ended: [Transfer], _ result: Result<StoreAnswer, StoreRefusal>) {
        for transfer in ended { transferEnded(transfer, nil, isRepeated: false, result) }
    }

    mutating func transferEnded(
        _ transfer: Transfer, _ call: CallID?, isRepeated: Bool, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            log(.error, "the end of \(transfer.id) could not be stored yet: \(refusal)")
            // The files of a cancelled transfer are gone now, so a full disk may take the next attempt.
            let mayWait = phase == .serving && !isRepeated
            if let call, !mayWait { refuse(call, refusal.asSubmissionError) }
            unsavedTransfers.append(UnsavedTransfer(transfer: transfer, call: mayWait ? call : nil))
            nextRetry = nextRetry ?? now.boot + Self.storeRetryDelay
            return
        }
        unstoredEnds.remove(transfer.id)
        emit(.publish(.transferChanged(transfer)))
        if let outcome = transfer.outcome { emit(.publish(.transferEnded(transfer.id, outcome))) }
        if !transfer.keepsFiles { emit(.transfer(.remove(transfer.id))) }
        endedInSession(transfer)
        if let call { answer(call, .transfer(transfer)) }
    }

    /// Writes the ends again that could not be stored.
    mutating func retryTransferEnds() {
        let waiting = unsavedTransfers
        unsavedTransfers = []
        for unsaved in waiting {
            store(
                .saveTransfer(unsaved.transfer),
                .endTransfer(unsaved.transfer, unsaved.call, isRepeated: true))
        }
    }
}
