import Launching
import RequestStore
@testable import Scheduling
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// A pledge: a promise that an answer makes about other effects. It is checked after all effects of the same
/// input.
enum Pledge {
    /// Everything that the cancellation found has ended or must stop, and does not come back.
    case gone(Cancellation)
    /// The host has asked these launches to stop.
    case stopping([LaunchID])
    /// Nothing with this name is running.
    case nothingRuns(ControlTarget)
}

/// Checks of the promises that a host makes with each effect.
extension VirtualWorld {
    /// Checks that no other launch of the request or the identifier is running.
    func checkAlone(_ id: LaunchID, _ request: RequestID, _ identifier: TaskIdentifier) throws {
        if cancelled.contains(request) {
            throw BrokenPromise("\(request) is launched, and was said to be cancelled")
        }
        // A queue may run two at a time, until its manifest changes.
        let isQueue =
            identifier.rawValue.hasSuffix(".batch")
            || store.request(request)?.request.isQueued == true
        let running = tasks.values.filter { $0.order.record.identifier == identifier }
        for task in running where task.order.request.id == request || !isQueue || running.count > 1 {
            throw BrokenPromise("\(identifier), \(request) runs as \(task.order.id) and as \(id)")
        }
        for (client, run) in clients.values.flatMap({ client in client.runs.map { (client, $0) } })
        // A client that did not stop in time may continue a launch whose end is already recorded.
        where (run.value.launch.request.id == request || run.key == id)
            && store.launch(run.key)?.state != .ended
        {
            throw BrokenPromise("\(request) runs as \(run.key) in process \(client.process) and as \(id)")
        }
    }

    // MARK: Writes

    /// Checks a write when the host asks for it.
    mutating func check(_ write: StoreWrite) throws {
        switch write {
        case .begin(let id, let terms):
            try checkPeriod(id, terms)
            try checkPredecessors(of: id)
            try checkBackOff(id, terms)
            asked[id] = (terms.at, clockChanges)
        case .end(let ended, _, _, let putBack, _):
            try check(ended, putBack)
            try checkAttempts(ended, putBack)
            // A back-off counts from the end of the launch, and the clock may have been set since.
            let isSet = ended.at.wall.sinceEpoch - ended.at.boot != now.wall.sinceEpoch - now.boot
            if putBack != nil, let id = store.launch(ended.id)?.request {
                putBackClock[id] = isSet ? nil : clockChanges
            }
        default: return
        }
    }

    /// Checks that a request begins only when all that must succeed first have succeeded.
    private func checkPredecessors(of id: RequestID) throws {
        for predecessor in store.request(id)?.request.submission.predecessors ?? [] {
            guard let record = store.request(predecessor) else { continue }
            if record.outcome != .succeeded {
                throw BrokenPromise("\(id) begins, and \(predecessor) has not succeeded")
            }
        }
    }

    /// Checks that two launches of a periodic schedule begin at least 38 % of the period apart: a
    /// launch that begins at most 62 % of the period late does not move the schedule's next date.
    private func checkPeriod(_ id: RequestID, _ terms: LaunchTerms) throws {
        guard let request = store.request(id)?.request, request.submission.origin == .schedule,
            request.identifier.rawValue.hasSuffix(".hourly"), request.attempt == 1, !terms.isSimulated,
            let (last, changes) = begins[request.identifier], changes == clockChanges
        else { return }
        if terms.at - last < VirtualManifests.period * 38 / 100 {
            throw BrokenPromise(
                "\(request.identifier) begins again after \((terms.at - last).inSeconds) s, within its period"
            )
        }
    }

    /// Checks that a launch that the host ended is put back, and that a succeeded, cancelled or one-time
    /// launch is not.
    private func check(_ ended: EndedLaunch, _ putBack: PutBack?) throws {
        guard let record = store.launch(ended.id) else { return }
        let (id, end) = (ended.id, ended.end)
        if end.outcome == .succeeded, putBack != nil {
            throw BrokenPromise("\(id) succeeded, and is tried again")
        }
        if cancelled.contains(record.request), putBack != nil {
            throw BrokenPromise("\(record.request) is tried again, and was said to be cancelled")
        }
        if record.identifier.rawValue.hasSuffix(".once"), putBack != nil, end.reason != .shortage {
            throw BrokenPromise("\(id) may run once, and is tried again")
        }
        let unsaved = core.unsavedEnds.first { $0.ended.id == id }?.launch
        let expiration = (core.launches[id] ?? unsaved)?.record.expiration
        let isHosts = [.hostShutdown, .systemSleep, .paused].contains(end.reason)
        guard end.reason != .attemptsWithoutProgress,
            end.outcome == .lost || (end.outcome == .expired && isHosts && end.completion == nil),
            !record.identifier.rawValue.hasSuffix(".once"), runners[id] == nil,
            !unwanted.contains(record.request),
            expiration != .cancelledByUser, expiration != .manifestRemoved,
            // The launch of an app that used its whole lease is not tried again, even if the host stops then.
            record.kind != .appLaunch || expiration != .leaseEnded,
            // A user cancelled the request, even if the store could not record that.
            unsaved?.isCancelled != true
        else { return }
        if putBack == nil { throw BrokenPromise("\(id) is \(end.outcome), and is not tried again") }
    }

    /// Checks how an attempt's request is put back: after an attempt without progress it has a back-off, the
    /// number of such attempts is limited, and after an attempt that conditions ended it has no back-off.
    private func checkAttempts(_ ended: EndedLaunch, _ putBack: PutBack?) throws {
        let settings = core.scheduler.settings
        let unsaved = core.unsavedEnds.first { $0.ended.id == ended.id }?.launch
        guard let launch = core.launches[ended.id] ?? unsaved else { return }
        if ended.end.reason == .shortage {
            if launch.isCancelled { return }
            guard let putBack, putBack.attempts == launch.request.attempts,
                let notBefore = putBack.notBefore, notBefore - ended.at.wall >= .seconds(10)
            else { throw BrokenPromise("\(ended.id) met a shortage, and counts or is not put back") }
            return
        }
        let (before, id) = (launch.request.attempts, ended.id)
        if ended.end.reason == .attemptsWithoutProgress {
            if putBack != nil { throw BrokenPromise("\(id) was the last attempt, and is tried again") }
            // The settings may have changed since the end that the store refused.
            if unsaved == nil, before.withoutProgress + 1 < settings.attemptsWithoutProgress {
                throw BrokenPromise("\(id) is the last attempt, after \(before.withoutProgress) of a row")
            }
            return
        }
        guard let putBack, !putBack.isRetry else { return }
        let hasBrought =
            launch.record.hasNewCheckpoint
            || launch.record.progress?.isFurther(than: before.furthest) == true
        let isOwn =
            ended.end.outcome == .lost
            || [.leaseEnded, .cpuLimit, .memoryLimit, .storageLimit, .noProgress, .pressure].contains(
                launch.record.expiration)
        let row = hasBrought ? 0 : before.withoutProgress + (isOwn ? 1 : 0)
        if putBack.attempts.withoutProgress != row {
            throw BrokenPromise(
                "\(id) ends a row of \(row) attempts, not of \(putBack.attempts.withoutProgress)")
        }
        if isOwn, row >= settings.attemptsWithoutProgress {
            throw BrokenPromise("\(id) is attempt \(row) without progress, and is tried again")
        }
        guard isOwn else {
            guard let notBefore = putBack.notBefore else { return }
            // Conditions that come and go have a dwell from the second short attempt on.
            let isFlap =
                launch.request.attempt > 1
                && FlapBook.counts(
                    runTime: ended.at.wall - launch.record.startedAt, gotFurther: hasBrought)
                && notBefore - ended.at.wall <= FlapBook.longestDwell
            if isFlap { return }
            throw BrokenPromise("\(id) was ended by conditions, and its request backs off")
        }
        let hadLease = launch.record.expiration == .leaseEnded
        guard row > 0 || hadLease else { return }
        let least =
            row == 0
            ? min(settings.backOffBase, settings.backOffLimit)
            : min(settings.backOffBase * (1 << min(row - 1, 20)), settings.backOffLimit) / 2
        guard let notBefore = putBack.notBefore, notBefore - ended.at.wall >= least else {
            throw BrokenPromise("\(id) is attempt \(row) without progress, and does not back off")
        }
    }

    /// Checks that no request that was put back begins before its back-off has passed.
    private func checkBackOff(_ id: RequestID, _ terms: LaunchTerms) throws {
        guard let request = store.request(id)?.request, request.attempt > 1, !terms.isSimulated,
            let notBefore = request.notBefore, putBackClock[id] == clockChanges, terms.at < notBefore
        else { return }
        throw BrokenPromise("\(id) begins \((notBefore - terms.at).inSeconds) s before its back-off ends")
    }

    // MARK: Answers

    mutating func take(_ answer: HostAnswer, of call: CallID) throws {
        guard unanswered.remove(call) != nil else {
            throw BrokenPromise("a call is answered twice, or was never made")
        }
        let process = connecting.removeValue(forKey: call)
        let submitter = submitting.removeValue(forKey: call)
        let key = keys.removeValue(forKey: call)
        if let (id, report, process) = reports.removeValue(forKey: call) {
            try checkReport(id, report, process: process, answer)
        }
        let target = expiries.removeValue(forKey: call)
        let found = cancellations.removeValue(forKey: call)
        switch answer {
        case .accepted(let acceptance):
            try take(acceptance, from: submitter, key: key)
            if refusedPayloads.contains(call) {
                throw BrokenPromise("\(acceptance.request.id) is accepted, and its payload was refused")
            }
        case .cancelled(let cancellation):
            cancelled.formUnion(cancellation.requests)
            cancelled.formUnion(cancellation.launches.compactMap { store.launch($0)?.request })
            if let found { pledges.append(.gone(found)) }
            pledges.append(.gone(cancellation))
        case .bundle(let facts):
            let stored = store.facts.bundleStates[facts.bundle] ?? BundleState()
            if stored != core.scheduler.bundleState(facts.bundle) {
                throw BrokenPromise("the change of \(facts.bundle) is acknowledged before it is stored")
            }
        case .simulated(let launch):
            guard let record = store.launch(launch.record.id),
                record.state != .ended || tasks[record.id] == nil
            else { throw BrokenPromise("\(launch.record.id) is said to be started, and is not stored") }
        case .expiring(let ids): pledges.append(.stopping(ids))
        case .transfer(let transfer):
            if !store.facts.transfers.contains(where: { $0.id == transfer.id }) {
                throw BrokenPromise("\(transfer.id) is acknowledged before it is stored")
            }
        case .transfers(let ids):
            if !Set(store.facts.transfers.map(\.id)).isSuperset(of: ids) {
                throw BrokenPromise("some of \(ids) are acknowledged before they are stored")
            }
        case .connected(let id):
            guard let process else { throw BrokenPromise("a call that connects nothing is connected") }
            clients[id] = VirtualClient(process: process)
        case .paused(let pause):
            // A later call may have stored another one.
            if pauses.removeValue(forKey: call) != pause {
                throw BrokenPromise("a pause is acknowledged as another one than was ordered")
            }
        case .done: break
        case .refused(let error):
            if error.code != .notFound { break }
            if let found { pledges.append(.gone(found)) }
            if let target { pledges.append(.nothingRuns(target)) }
        }
    }

    private mutating func take(_ acceptance: Acceptance, from process: Int32?, key: String?) throws {
        let id = acceptance.request.id
        acknowledged.insert(id)
        if store.request(id) == nil { throw BrokenPromise("\(id) is acknowledged before it is stored") }
        if let process { submitters[id, default: []].insert(process) }
        // If the host kept the pending request instead (`--if-pending keep`), the key is still unused.
        // In a queue, a key can be used again after the end of its request.
        if let key, !acceptance.isKept, !acceptance.request.isQueued,
            keyed.updateValue(id, forKey: key).map({ $0 != id }) == true
        {
            throw BrokenPromise("'\(key)' was accepted as another request than \(id)")
        }
    }

    mutating func take(_ result: Result<[TaskRequest], SubmissionError>, of call: UInt64) throws {
        guard handlerCalls.remove(call) != nil else {
            throw BrokenPromise("a handler's call is answered twice")
        }
        let found = handlerCancellations.removeValue(forKey: call)
        if case .success(let requests) = result {
            acknowledged.formUnion(requests.map(\.id))
            if let found { pledges.append(.gone(found)) }
        }
    }

    // MARK: Pledges

    /// Checks the promises that the answers to the last input made.
    mutating func keepPledges() throws {
        for pledge in pledges {
            switch pledge {
            case .gone(let found): try checkGone(found)
            case .stopping(let ids):
                for id in ids where !isStopping(id) {
                    throw BrokenPromise("\(id) is said to be stopping, and was not told to")
                }
            case .nothingRuns(let target):
                for task in tasks.values where Self.matches(target, task.order) {
                    throw BrokenPromise("\(target) is said not to run, and runs as \(task.order.id)")
                }
            }
        }
        pledges = []
    }

    private mutating func checkGone(_ found: Cancellation) throws {
        for id in found.requests {
            if store.request(id)?.state == .pending {
                throw BrokenPromise("the cancellation of \(id) is answered, and it is pending")
            }
            for launch in store.launches(of: id) where launch.state != .ended && !isStopping(launch.id) {
                throw BrokenPromise("the cancellation of \(id) is answered, and it runs as \(launch.id)")
            }
            cancelled.insert(id)
        }
        for id in found.launches {
            if !isStopping(id) { throw BrokenPromise("the cancellation of \(id) is answered, and it runs") }
            guard let request = store.launch(id)?.request else { continue }
            if store.request(request)?.state == .pending {
                throw BrokenPromise("the cancellation of \(id) is answered, and \(request) is pending again")
            }
            cancelled.insert(request)
        }
    }

    /// Whether a launch has ended or was asked to stop.
    private func isStopping(_ id: LaunchID) -> Bool {
        if let task = tasks[id] { return task.expiration != nil }
        if let run = clients.values.lazy.compactMap({ $0.runs[id] }).first {
            return run.expiration != nil || store.launch(id)?.state == .ended
        }
        guard core.launches[id]?.stage == .preparing else { return true }
        return followers.expiring.contains(id)
    }

    private static func matches(_ target: ControlTarget, _ order: LaunchOrder) -> Bool {
        switch target {
        case .request(let id): order.request.id == id
        case .launch(let id): order.id == id
        case .identifier(let identifier): order.record.identifier == identifier
        case .tag(let tag): order.record.tags.contains(tag)
        }
    }

    // MARK: Always

    /// Checks the promises that hold between any two steps.
    func check() throws {
        for id in acknowledged where store.request(id) == nil {
            throw BrokenPromise("\(id) was acknowledged and is lost")
        }
        for id in cancelled where store.request(id)?.state == .pending {
            throw BrokenPromise("\(id) was said to be cancelled, and is pending again")
        }
    }

    /// Compares `explain` with a pass of the scheduler in which nothing has changed: a request with a veto
    /// must not start, and a request without one must start.
    mutating func checkExplanations() throws {
        guard core.phase == .serving else { return }
        func waiting() -> [(TaskRequest, Explanation)] {
            core.requests.pending.values.compactMap { request in
                let isUnderWay =
                    core.requests.starting[request.id] != nil
                    || core.requests.withdrawing.contains(request.id)
                return isUnderWay ? nil : (request, core.explain(request, at: now))
            }
        }
        let before = waiting()
        let busy = core.launches.all.count { !$0.hasFreedSlot }
        let wasGoingToSleep = core.isGoingToSleep
        try hear(.timePassed(localTimeOffset: .zero))
        // The time limit for a sleep that was announced and did not come is over: something has changed.
        if wasGoingToSleep, !core.isGoingToSleep { return }
        // A client was overdue, so the slot of its launch became free: something has changed.
        if core.launches.all.count(where: { !$0.hasFreedSlot }) < busy { return }
        let started = Set(core.requests.starting.keys)
        // The score may have become sufficient because other work started.
        let hasCompanion = before.contains { $0.1.startsWithNextEvent && started.contains($0.0.id) }
        for (request, explanation) in before
        where started.contains(request.id) && !explanation.startsWithNextEvent {
            let vetoes = explanation.vetoes.map(\.policy)
            if vetoes != ["Score"] || !hasCompanion {
                throw BrokenPromise("\(request.id) starts, and \(vetoes) kept it a moment ago")
            }
        }
        for (request, explanation) in waiting() where explanation.startsWithNextEvent {
            throw BrokenPromise("\(request.id) may start, and the next pass does not start it")
        }
    }

    /// Checks the remedies of some waiting requests: a copy of the host learns the changed fact, and launches
    /// exactly what the remedy promised.
    func checkRemedies() throws {
        // The scheduler does not know yet that a request is being cancelled.
        guard core.phase == .serving, !core.isGoingToSleep, core.requests.withdrawing.isEmpty,
            core.requests.foreseen.isEmpty
        else { return }
        let busy = core.launches.all.count { !$0.hasFreedSlot }
        var foresight = Foresight(core.scheduler, at: now)
        for request in core.requests.pending.values.sorted(by: { $0.id < $1.id }).prefix(4)
        where core.requests.starting[request.id] == nil && request.after == nil
            && request.openPredecessors.isEmpty
            // It is behind others, or the alarm for its date is due and comes before any person can act.
            && !core.requests.queues.isWaiting(request)
            && !core.requests.withdrawing.contains(request.id)
        {
            let present = foresight.world(of: request, after: [])
            let subject = core.scheduler.situation.subject(request, isTelling: false)
            for act in foresight.acts(for: subject, in: present) {
                guard case .conditions(let change) = act.effect else { continue }
                let promised = foresight.effect(foresight.world(of: request, after: [act]), on: request).0
                var conditions = core.scheduler.situation.conditions
                change(&conditions)
                var copy = core
                _ = copy.handle(.conditions(conditions), at: now)
                if copy.launches.all.count(where: { !$0.hasFreedSlot }) < busy { continue }
                if (copy.requests.starting[request.id] != nil) != (promised == .starts) {
                    throw BrokenPromise(
                        "'\(act.text)' promises \(promised) for \(request.id), and does not keep it")
                }
            }
        }
    }

    /// Checks that nothing is running after everything was killed.
    func checkKilled() throws {
        if let id = tasks.keys.min() { throw BrokenPromise("\(id) outlives the kill of everything") }
        for launch in core.launches.all where launch.client != nil && launch.stage != .ending {
            throw BrokenPromise("\(launch.record.id) in a client outlives the kill of everything")
        }
    }

    /// Checks what a stopped host leaves behind.
    mutating func checkDrained() throws {
        if !tasks.isEmpty { throw BrokenPromise("the host has drained, and \(tasks.count) tasks run") }
        if !writes.isEmpty { throw BrokenPromise("the host has drained, and writes wait") }
        if hasDrained { throw BrokenPromise("the host has drained twice") }
        if let client = connectedClients.first {
            throw BrokenPromise("the host has drained, and \(client) is connected")
        }
        let waiting = inputs.compactMap { if case .call(let call, _) = $0 { call } else { nil } }
        if !unanswered.subtracting(waiting).isEmpty {
            throw BrokenPromise("the host has drained, and a call is not answered")
        }
        hasDrained = true
    }
}

extension Explanation {
    /// Whether a request starts with the next event: nothing keeps it waiting, or only its window.
    fileprivate var startsWithNextEvent: Bool { vetoes.allSatisfy { $0.policy == "Window" } }
}
