import HandlerRegistry
import HostSettings
import Launching
import RequestStore
import Scheduling
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// A promise of the host that did not hold.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A world for a ``HostCore``: a store, tasks, files, people and clocks, all of them values.
///
/// Nothing happens by itself: whoever drives the world says what happens next, so that any effect may fail, its answer may come
/// late, and the host may die between any two effects. What was promised is checked at every step.
struct VirtualWorld {
    /// What is going on in a task's process.
    struct VirtualTask {
        let order: LaunchOrder
        var isReady = false
        /// Why it was told to stop.
        var expiration: Reason?
    }

    var core = HostCore()
    var store = MemoryStore()
    var now = Moment(
        boot: .seconds(1000), monotonic: .seconds(1000), wall: WallTime(milliseconds: 1_800_000_000_000))
    var conditions = Conditions.simulatedStart
    var registered: RegistrySnapshot
    let settings: SettingsSnapshot
    /// Heard and not taken by the core yet.
    var inputs: [HostInput] = []
    /// Asked of the store and not committed.
    var writes: [(StoreTicket, StoreWrite)] = []
    /// Asked of the worker and not done.
    var work: [HostWork] = []
    var tasks: [LaunchID: VirtualTask] = [:]
    var alarm = Wake()
    var hasDrained = false
    var lastCall = 0
    var lastHandlerCall: UInt64 = 0
    /// Calls that nobody has answered.
    var unanswered: Set<CallID> = []
    var answers: [CallID: HostAnswer] = [:]
    /// Calls of handlers that nobody has answered.
    var handlerCalls: Set<UInt64> = []
    /// Requests that somebody was told are durable.
    var acknowledged: Set<RequestID> = []
    /// Requests that somebody was told are cancelled.
    var cancelled: Set<RequestID> = []
    /// Launches whose end was published.
    var published: Set<LaunchID> = []
    /// What was logged, for a failure's report.
    var log: [String] = []

    init(_ manifests: [Manifest], settings: SchedulerSettings = SchedulerSettings()) {
        var effective = EffectiveSettings(
            paths: HostPaths(plugins: "/p", manifests: "/m", state: "/s", socket: "/s/c"))
        effective.scheduler = settings
        self.settings = SettingsSnapshot(effective: effective)
        registered = RegistrySnapshot(handlers: manifests.map(Self.handler), problems: [])
    }

    static func handler(_ manifest: Manifest) -> PermittedHandler {
        PermittedHandler(
            manifestPath: "/m/\(manifest.bundle).yaml", manifest: manifest,
            libraryPath: "/s/libraries/\(manifest.bundle).so", libraryHash: "hash-of-\(manifest.bundle)")
    }

    // MARK: The host's life

    /// Starts a host on what the store has.
    mutating func begin() throws {
        var beginning = HostBeginning(
            surroundings: HostSurroundings(
                manifestsDirectory: "/m", stateDirectory: "/s", isolation: "cgroup", taskEnvironment: []),
            settings: settings, registered: registered, conditions: conditions)
        beginning.facts = store.facts
        let (scheduler, wall) = (settings.effective.scheduler, now.wall)
        let manifests = registered.handlers.map(\.manifest)
        beginning.lost =
            store.recover(
                at: wall,
                isAtMostOnce: { bundle, identifier in
                    manifests.first { $0.bundle == bundle }?.declaration(for: identifier)?.isAtMostOnce
                        ?? false
                },
                backOff: { wall + scheduler.backOff(afterAttempt: $0.attempt) }
            ).lost
        beginning.pending = store.pendingRequests
        beginning.boot = "boot"
        for task in manifests.flatMap(\.tasks) where task.schedule != nil {
            let newest = store.launches(identifier: task.pattern.base, limit: 1, before: nil).first
            beginning.lastLaunches[task.pattern.base] = newest?.startedAt
        }
        core = HostCore()
        hasDrained = false
        try hear(.begin(beginning))
    }

    /// The host dies, with everything that it has not stored; its tasks die with it.
    mutating func kill() {
        store.loseNotes()
        (inputs, writes, work, tasks) = ([], [], [], [:])
        // Nobody can answer them any more: their connections are closed.
        (unanswered, handlerCalls) = ([], [])
        alarm = Wake()
    }

    // MARK: Effects

    /// Gives the core an input at once, and does what it says.
    mutating func hear(_ input: HostInput) throws {
        for effect in core.handle(input, at: now) { try perform(effect) }
    }

    private mutating func perform(_ effect: HostEffect) throws {
        switch effect {
        case .store(let ticket, let write): writes.append((ticket, write))
        case .note(let note, let id): store.note(note, of: id)
        case .launch(let order): try launch(order)
        case .expire(let id, let reason): try expire(id, reason)
        case .kill(let id, let reason, _):
            guard tasks.removeValue(forKey: id) != nil else { return }
            inputs.append(.launch(Self.ended(id, LaunchEnd(outcome: .killed, reason: reason), at: now)))
        case .reply(_, let call, let result):
            guard handlerCalls.remove(call) != nil else {
                throw BrokenPromise("a handler's call is answered twice")
            }
            if case .success(let requests) = result { acknowledged.formUnion(requests.map(\.id)) }
        case .measure(let id): inputs.append(.measured(id, .milliseconds(5)))
        case .answer(let call, let answer): try take(answer, of: call)
        case .publish(let event): try take(event)
        case .log(let line): log.append("\(line.level) \(line.message)")
        case .work(let work): self.work.append(work)
        case .arm(let wake): alarm = wake
        case .drained:
            if !tasks.isEmpty { throw BrokenPromise("the host has drained, and \(tasks.count) tasks run") }
            if !writes.isEmpty { throw BrokenPromise("the host has drained, and writes wait") }
            if hasDrained { throw BrokenPromise("the host has drained twice") }
            let waiting = inputs.compactMap { if case .call(let call, _) = $0 { call } else { nil } }
            if !unanswered.subtracting(waiting).isEmpty {
                throw BrokenPromise("the host has drained, and a call is not answered")
            }
            hasDrained = true
        case .setCPULimit(let id, _), .setPriority(let id, _), .setConditions(let id, _):
            if core.launches[id]?.stage == .preparing {
                throw BrokenPromise("the launcher is told something of \(id), which it does not know yet")
            }
        case .retire, .notifyClient, .closeClient, .measureClient,
            .awaitClientEnd, .record, .recordSleep, .letSleep:
            break
        }
    }

    private mutating func launch(_ order: LaunchOrder) throws {
        if tasks[order.id] != nil { throw BrokenPromise("\(order.id) is launched twice") }
        if let other = tasks.values.first(where: { $0.order.request == order.request }) {
            throw BrokenPromise("\(order.request) runs as \(other.order.id) and as \(order.id)")
        }
        if let other = tasks.values.first(where: { $0.order.identifier == order.identifier }) {
            throw BrokenPromise("\(order.identifier) runs as \(other.order.id) and as \(order.id)")
        }
        guard let record = store.launch(order.id), record.state != .ended, record.request == order.request
        else {
            throw BrokenPromise("\(order.id) is launched before it is stored")
        }
        if core.launches[order.id]?.stopBeforeStart != nil {
            throw BrokenPromise("\(order.id) is launched, and was told to stop before")
        }
        if cancelled.contains(order.request) {
            throw BrokenPromise("\(order.request) is launched, and was said to be cancelled")
        }
        if record.attempt != order.attempt { throw BrokenPromise("\(order.id) has the wrong attempt") }
        if order.checkpoint != store.checkpoint(of: order.request) {
            throw BrokenPromise("\(order.id) is launched without the newest checkpoint")
        }
        if !record.isSimulated, core.explain(record).start?.mayStart != true {
            throw BrokenPromise("\(order.id) is launched, and its explanation does not permit it")
        }
        tasks[order.id] = VirtualTask(order: order)
    }

    private mutating func expire(_ id: LaunchID, _ reason: Reason) throws {
        guard var task = tasks[id], task.expiration == nil else { return }
        task.expiration = reason
        tasks[id] = task
        inputs.append(.launch(.expiring(id, reason, at: now)))
    }

    private mutating func take(_ answer: HostAnswer, of call: CallID) throws {
        guard unanswered.remove(call) != nil else {
            throw BrokenPromise("a call is answered twice, or was never made")
        }
        answers[call] = answer
        switch answer {
        case .accepted(let acceptance):
            let id = acceptance.request.id
            acknowledged.insert(id)
            if store.request(id) == nil { throw BrokenPromise("\(id) is acknowledged before it is stored") }
        case .cancelled(let cancellation):
            for id in cancellation.requests where store.request(id)?.state == .pending {
                throw BrokenPromise("\(id) is said to be cancelled, and is pending")
            }
            cancelled.formUnion(cancellation.requests)
            cancelled.formUnion(cancellation.launches.compactMap { store.launch($0)?.request })
        case .bundle(let facts):
            if store.facts.bundleStates[facts.bundle] != core.scheduler.bundleState(facts.bundle) {
                throw BrokenPromise("the change of \(facts.bundle) is acknowledged before it is stored")
            }
        case .simulated(let launch):
            guard let record = store.launch(launch.record.id),
                record.state != .ended || tasks[record.id] == nil
            else { throw BrokenPromise("\(launch.record.id) is said to be started, and is not stored") }
        case .expiring, .connected, .done, .refused: break
        }
    }

    private mutating func take(_ event: HostEvent) throws {
        guard case .launchEnded(let record, _) = event else { return }
        if !published.insert(record.id).inserted {
            throw BrokenPromise("the end of \(record.id) is published twice")
        }
    }

    // MARK: What happens

    static func ended(_ id: LaunchID, _ end: LaunchEnd, at now: Moment) -> LaunchEvent {
        .ended(EndedLaunch(id: id, end: end, at: now, cpuTime: .milliseconds(7)))
    }

    /// The core takes the oldest input.
    mutating func takeInput() throws {
        if !inputs.isEmpty { try hear(inputs.removeFirst()) }
    }

    /// The store commits everything that waits; `failing` says that its disk is full.
    mutating func commit(failing: Bool = false) {
        let batch = writes
        writes = []
        guard !failing else {
            let error = StoreError(
                code: .diskFull, subject: "store", finding: "no space is left", remedy: "Make room")
            for (ticket, _) in batch { inputs.append(.stored(ticket, .failure(.store(error)))) }
            return
        }
        let results = store.commit(batch.map(\.1))
        for ((ticket, _), result) in zip(batch, results) { inputs.append(.stored(ticket, result)) }
    }

    /// The worker does one of the pieces that wait.
    mutating func doWork(_ index: Int, failing: Bool = false) {
        switch work.remove(at: index) {
        case .scan(let ticket): inputs.append(.scanned(ticket, registered))
        case .checkPayload(let ticket, _, _, _): inputs.append(.payloadChecked(ticket, nil))
        case .prepare(let id, _, _, _):
            let error = SubmissionError(
                code: .unavailable, subject: "\(id)", finding: "no space is left", remedy: "Make room")
            inputs.append(
                .prepared(
                    id,
                    failing
                        ? .failure(error)
                        : .success(LaunchPlace(dataDirectory: "/s/data", temporaryDirectory: "/s/tmp/\(id)")))
            )
        case .findDate(let identifier, _, _, let after):
            inputs.append(.dated(identifier, after: after, .next(after + .seconds(3600), text: "soon")))
        case .removeTemporary, .removeCopies, .removeApps, .defineConditions, .watchFiles, .openMachineAlarm:
            break
        }
    }

    /// Somebody calls.
    @discardableResult
    mutating func call(_ asked: HostCall) -> CallID {
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        unanswered.insert(id)
        inputs.append(.call(id, asked))
        return id
    }

    /// A handler calls.
    mutating func handlerCall(_ make: (UInt64) -> LaunchEvent) {
        lastHandlerCall += 1
        handlerCalls.insert(lastHandlerCall)
        inputs.append(.launch(make(lastHandlerCall)))
    }

    /// A task's process ends.
    mutating func end(_ id: LaunchID, _ end: LaunchEnd) {
        tasks[id] = nil
        inputs.append(.launch(Self.ended(id, end, at: now)))
    }

    mutating func pass(_ time: Duration) { now = now.advanced(by: time) }

    /// When the next alarm comes, on CLOCK_BOOTTIME.
    var nextAlarm: Duration? {
        let wall = alarm.wall.map { now.boot + max(.zero, $0 - now.wall) }
        return [alarm.boot, wall].compactMap(\.self).min()
    }

    /// The alarm, if it is due; it is used up then.
    mutating func ring() {
        guard let next = nextAlarm, next <= now.boot else { return }
        alarm = Wake()
        inputs.append(.timePassed(localTimeOffset: .zero))
    }

    // MARK: What must hold

    /// Checks what holds between any two steps.
    func check() throws {
        for id in acknowledged where store.request(id) == nil {
            throw BrokenPromise("\(id) was acknowledged and is lost")
        }
    }

    /// Lets everything that is under way come to its end, with nothing failing and every task succeeding.
    ///
    /// - Throws: What waits although nothing will wake it.
    mutating func settle(limit: Int = 20_000) throws {
        var isSettled = false
        for _ in 0..<limit {
            try check()
            if !inputs.isEmpty {
                try takeInput()
            } else if !writes.isEmpty {
                commit()
            } else if !work.isEmpty {
                doWork(0)
            } else if let (id, task) = tasks.min(by: { $0.key < $1.key }) {
                if task.isReady {
                    var end = LaunchEnd(outcome: .succeeded, reason: task.expiration)
                    end.completion = true
                    self.end(id, end)
                } else {
                    tasks[id]?.isReady = true
                    inputs.append(.launch(.ready(id, at: now)))
                }
            } else if let next = nextAlarm {
                try checkQuiet()
                pass(max(.zero, next - now.boot))
                ring()
                if core.counts.pending == 0, core.unsavedEnds.isEmpty {
                    isSettled = true
                    break
                }
            } else {
                isSettled = true
                break
            }
        }
        if !isSettled { throw BrokenPromise("it goes on for ever") }
        try checkQuiet()
        try checkEverythingEnded()
    }

    /// Checks what holds when nothing is under way: every call is answered, and what may start has started.
    private func checkQuiet() throws {
        if let call = unanswered.first { throw BrokenPromise("call \(call.rawValue) was never answered") }
        if !handlerCalls.isEmpty { throw BrokenPromise("a handler's call was never answered") }
        for request in core.pendingRequests(at: now) {
            let explanation = core.explain(request.request, at: now)
            if explanation.mayStart, !core.isGoingToSleep, !hasDrained {
                throw BrokenPromise("\(request.request.id) may start, and does not")
            }
        }
    }

    private func checkEverythingEnded() throws {
        for record in core.pendingRequests(at: now) where !hasDrained && nextAlarm == nil {
            throw BrokenPromise(
                "\(record.request.id) waits, and nothing will wake it: \(record.verdicts.filter { $0.decision != .proceed })"
            )
        }
        for launch in store.launches(identifier: nil, limit: .max, before: nil) where launch.state != .ended {
            throw BrokenPromise("\(launch.id) has never ended")
        }
        let pending = Set(core.pendingRequests(at: now).map(\.request.id))
        if !hasDrained, pending != Set(store.pendingRequests.map(\.id)) {
            throw BrokenPromise("the host and its store have other pending requests")
        }
    }
}
