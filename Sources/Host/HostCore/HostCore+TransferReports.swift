import Scheduling
import TaskModel

/// What the program that makes transfers reports about them.
extension HostCore {
    /// The length of files that a crash may cost wholly, in bytes: 1 MiB, as in `bgtask-transfer`.
    private static let smallFile: Int64 = 1 << 20

    mutating func take(_ reports: [TransferReport]) {
        endedTogether = EndedTransfers()
        for report in reports { take(report) }
        let together = endedTogether ?? EndedTransfers()
        endedTogether = nil
        if !together.ended.isEmpty { store(.saveTransfers(together.ended), .endTransfers(together.ended)) }
        if !together.forgotten.isEmpty {
            store(.removeTransfers(together.forgotten), .fact("which old transfers are forgotten"))
        }
        saveTransferUse()
    }

    private mutating func take(_ report: TransferReport) {
        switch report {
        case .response(let id, let response, let total, let isWhole):
            guard var transfer = transfers[id], transfer.state == .running else { return }
            transfer.response = response
            transfer.total = total ?? transfer.total
            if isWhole {
                // Its end follows as soon as the disk has it, and tells the rest.
                _ = transfers.put(transfer, at: now)
                transfers.releasePlace(of: id)
            } else {
                put(transfer)
            }
            // A file that is complete after a crash needs no other request, so its response must be known.
            if total ?? .max > Self.smallFile { store(.saveTransfer(transfer), .transfer(id)) }
        case .began(let id):
            guard let transfer = transfers[id], transfers.reserve.remove(id) else { return }
            // The host may have stopped it meanwhile, and then its end follows.
            begin(transfer)
            if phase != .serving { stopTransfer(id) }
        case .progress(let id, let completed, let total, let received, let sent):
            guard var transfer = transfers[id], transfer.state == .running else { return }
            count(&transfer, received: received, sent: sent)
            transfer.completed = completed
            transfer.total = total ?? transfer.total
            put(transfer)
        case .ended(let id, let end, let received, let sent):
            if transfers.reserve.remove(id) {
                stoppedTransfers.remove(id)
                // The order did not fit, so the attempt has ended before it began.
                if end.kind == .futile, let transfer = transfers[id], transfer.state == .waiting {
                    begin(transfer)
                }
            }
            // The program may have made files after they were removed for the end.
            // An end that is not stored yet removes them when it is.
            let isStored = transfers[id]?.state == .ended && !unstoredEnds.contains(id)
            if isStored || transfers[id]?.outcome == .cancelled || transfers[id] == nil { removeAgain(id) }
            guard var transfer = transfers[id], transfer.state == .running else {
                return countAbandoned(id, received: received, sent: sent)
            }
            stoppedTransfers.remove(id)
            count(&transfer, received: received, sent: sent)
            if end.hasLostAnswer {
                tellLostAnswer(to: transfer, "it is longer than 1 MiB, or the disk is full")
            }
            let furthest = transferMarks.removeValue(forKey: id)
            let reached = end.completed ?? transfer.completed
            if endCancelled(&transfer, end) { return }
            let step = transfer.end(
                end, progressed: reached > furthest?.begun ?? 0 && transfer.request.direction == .download,
                at: now.wall)
            follow(step, transfer)
        case .delivered(let id, let problem):
            guard var transfer = transfers[id], transfer.state == .finishing else { return }
            if transfer.request.direction == .upload, let problem {
                tellLostAnswer(to: transfer, problem.message)
            }
            let step = transfer.deliver(problem, at: now.wall)
            follow(step, transfer)
        }
    }

    /// Logs that the app of an upload gets no answer.
    private mutating func tellLostAnswer(to transfer: Transfer, _ reason: String) {
        guard transfer.request.session != nil else { return }
        log(
            .warning,
            "the server's answer to \(transfer.id) of \(transfer.request.bundle) is not kept: \(reason). The app "
                + "hears the status without the body. Let the server answer with less, or let the app ask it again"
        )
    }

    /// Removes the files of a transfer that ended before its attempt.
    private mutating func removeAgain(_ id: TransferID) {
        if transfers[id]?.keepsFiles != true { emit(.transfer(.remove(id))) }
    }

    private mutating func follow(_ step: Transfer.Step, _ transfer: Transfer) {
        switch step {
        case .deliver(let place):
            put(transfer)
            emit(.transfer(.deliver(transfer.id, to: place)))
        case .wait:
            put(transfer)
            save(transfer)
        case .end: conclude(transfer)
        }
    }

    /// Counts the new bytes of an attempt for its bundle.
    private mutating func count(_ transfer: inout Transfer, received: Int64, sent: Int64) {
        guard var mark = transferMarks[transfer.id] else { return }
        let (more, moreSent) = (max(0, received - mark.received), max(0, sent - mark.sent))
        (mark.received, mark.sent) = (max(received, mark.received), max(sent, mark.sent))
        transferMarks[transfer.id] = mark
        transfer.received.addBounded(more)
        transfer.sent.addBounded(moreSent)
        count(for: transfer.request.bundle, received: more, sent: moreSent)
    }

    /// Counts the last bytes of an attempt whose transfer has ended before it.
    private mutating func countAbandoned(_ id: TransferID, received: Int64, sent: Int64) {
        guard let (bundle, mark) = abandonedMarks.removeValue(forKey: id) else { return }
        count(for: bundle, received: max(0, received - mark.received), sent: max(0, sent - mark.sent))
    }

    private mutating func count(for bundle: BundleIdentifier, received: Int64, sent: Int64) {
        guard received > 0 || sent > 0 else { return }
        transferUse[bundle, default: TransferUse()].add(
            received: received, sent: sent, isMetered: isMetered, on: localDay(of: now.wall))
        changedTransferUse.insert(bundle)
    }
}
