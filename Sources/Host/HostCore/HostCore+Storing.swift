import Scheduling
public import TaskModel

/// The answers of the store, and the writes of bundle states.
extension HostCore {
    mutating func stored(_ ticket: StoreTicket, _ result: Result<StoreAnswer, StoreRefusal>) {
        guard let errand = desk.take(ticket) else { return }
        switch errand {
        case .accept(let submitter, let identifier, let id, let client):
            accepted(submitter, identifier, id, client: client, result)
        case .begin(let id): begun(id, result)
        case .cancel(let id, let reason, let canceller): withdrawn(id, reason, canceller, result)
        case .end(let ended): endStored(ended, result)
        case .checkpoint(let id, let call):
            switch result {
            case .success:
                // A checkpoint that is stored after the launch ended is no news for the scheduler.
                if launches[id]?.hasFreedSlot == false {
                    let events = activities.saveCheckpoint(of: id, at: now.monotonic, scheduler.settings)
                    for event in events { feed(event) }
                }
                if let call { answer(call, .done) }
            case .failure(let refusal):
                launches[id]?.record.hasNewCheckpoint = false
                log(.error, "its checkpoint was not stored: \(refusal)", launch: id)
                if let call { refuse(call, refusal.asSubmissionError) }
            }
        case .markCancelled(let id, let number): markedCancelled(id, number, result)
        case .markExpiring(let id):
            if case .failure(let refusal) = result {
                log(
                    .error, "the launch was asked to stop, but this could not be stored: \(refusal)",
                    launch: id)
            }
        case .bundle(let bundle): bundleStored(bundle, result)
        case .pause(let call, let pause): pauseStored(call, pause, result)
        case .acceptTransfer(let transfer, let call): transferAccepted(transfer, call, result)
        case .acceptTransfers(let transfers, let call): transfersAccepted(transfers, call, result)
        case .transfer(let id):
            if case .failure(let refusal) = result {
                log(.warning, "the host could not store how far \(id) is: \(refusal)")
            }
        case .endTransfer(let transfer, let call, let isRepeated):
            transferEnded(transfer, call, isRepeated: isRepeated, result)
        case .endTransfers(let transfers): transfersEnded(transfers, result)
        case .beginInSession(let transfer, let id, let call): begunInSession(transfer, id, call, result)
        case .told(let transfer, let id, let call): told(transfer, id, call, result)
        case .fact(let name):
            if case .failure(let refusal) = result {
                log(.warning, "the host could not store \(name): \(refusal)")
            }
        }
    }

    /// Encodes an explanation for the store; `nil` if there is none, or the host keeps none.
    func text(of explanation: Explanation?) -> String? {
        surroundings.keepsExplanations ? ExplanationText.encode(explanation) : nil
    }

    // MARK: Bundles

    /// Writes the changed states of bundles, if a caller waits for one, the present input leads to another
    /// write, or no launch is under way.
    ///
    /// Then it answers the callers whose changes are durable.
    mutating func saveBundles() {
        let isIdle = launches.isEmpty && bundles.hasNews && phase == .serving
        if hasStored || bundles.isUrgent || isIdle { writeBundles() }
        for (bundle, call) in bundles.takeSettled() {
            answer(call, .bundle(facts(of: bundle, at: now)))
        }
    }

    mutating func writeBundles() {
        for (bundle, state) in bundles.take() {
            store(.remember(.bundleState(bundle, state)), .bundle(bundle))
        }
    }

    private mutating func bundleStored(
        _ bundle: BundleIdentifier, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        bundles.written(bundle)
        guard case .failure(let refusal) = result else {
            unstoredBundles.remove(bundle)
            return
        }
        // Keeps the newest state instead of the one that failed, because a newer one may be on its way
        // already.
        bundles.keep(scheduler.bundleState(bundle), of: bundle, isNew: false, at: now.boot)
        // Logs once for each outage, because the state is written again with every other write.
        if unstoredBundles.insert(bundle).inserted {
            log(.error, "the new state of \(bundle) could not be stored yet: \(refusal)")
        }
        for call in bundles.takeCallers(of: bundle) {
            refuse(
                call,
                SubmissionError(
                    code: .unavailable, subject: "\(bundle)",
                    finding:
                        "the change is in force, but it could not be stored, so it is lost when the host stops",
                    remedy: "See 'bgtask logs' for the cause. The host tries again by itself"))
        }
    }
}

extension StoreRefusal: CustomStringConvertible {
    /// The description of the error.
    public var description: String {
        switch self {
        case .submission(let error): "\(error)"
        case .store(let error): "\(error)"
        }
    }

    /// The error for a caller of the control API.
    var asSubmissionError: SubmissionError {
        switch self {
        case .submission(let error): error
        case .store(let error): error.asSubmissionError
        }
    }
}

extension StoreError {
    /// The error for a caller of the control API.
    public var asSubmissionError: SubmissionError {
        SubmissionError(
            code: code == .notPending ? .notFound : .unavailable, subject: subject, finding: finding,
            remedy: remedy)
    }
}
