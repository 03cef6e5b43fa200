import HandlerRegistry
import HostSettings
import Launching
import RequestStore
import Scheduling
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// A promise that the host broke.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A world around a ``HostCore``: a store, tasks, clients, files, people and clocks, all of them values.
///
/// Nothing happens by itself; the driver of the world decides what happens next. So any effect may fail, its
/// answer may come late, and the host may die between any two effects. The world checks the host's promises
/// at every step.
struct VirtualWorld {
    /// The state of a task's process.
    struct VirtualTask {
        let order: LaunchOrder
        var isReady = false
        /// The reason of the expiration; `nil` if the host has not asked the task to stop.
        var expiration: Reason?
    }

    var core = HostCore()
    var store = MemoryStore()
    var now = Moment(
        boot: .seconds(1000), monotonic: .seconds(1000), wall: WallTime(milliseconds: 1_800_000_000_000))
    var conditions = Conditions.simulatedStart
    var manifests = VirtualManifests()
    var settings = VirtualManifests.settings[0]
    /// The host's copies of libraries.
    var copies: Set<String> = []
    /// Identifiers for which the calendar has no next date.
    var dateless: Set<TaskIdentifier> = []
    /// How often the wall clock was set.
    var clockChanges = 0
    /// Whether every task uses all of its CPU time, which counts as progress.
    var usesCPU = false

    // MARK: In progress

    /// Inputs that the core has not handled yet.
    var inputs: [HostInput] = []
    /// Writes that the store has not committed yet.
    var writes: [(StoreTicket, StoreWrite)] = []
    /// Work outside the core, such as reading directories, that is not done yet.
    var work: [HostWork] = []
    var tasks: [LaunchID: VirtualTask] = [:]
    /// The answers to the questions of tasks about sessions, by call.
    var sessionAnswers: [UInt64: Result<[UInt8], SubmissionError>] = [:]
    /// The orders about transfers, oldest first; the tests play the program that makes them.
    var transferOrders: [TransferOrder] = []
    var clients: [ClientID: VirtualClient] = [:]
    /// Clients that have left; the host waits to learn whether their processes ended.
    var awaits: [(ClientID, isDead: Bool)] = []
    var alarm = Wake()
    var hasDrained = false

    // MARK: Calls

    private var lastCall = 0
    private var lastHandlerCall: UInt64 = 0
    /// Calls without an answer.
    var unanswered: Set<CallID> = []
    /// Calls of handlers without an answer.
    var handlerCalls: Set<UInt64> = []
    var connecting: [CallID: Int32] = [:]
    var submitting: [CallID: Int32] = [:]
    var reports: [CallID: (LaunchID, ClientReport, process: Int32)] = [:]
    var keys: [CallID: String] = [:]
    var refusedPayloads: Set<CallID> = []
    /// The pauses that calls ordered.
    var pauses: [CallID: Pause] = [:]
    var expiries: [CallID: ControlTarget] = [:]
    /// The requests and launches that existed when a cancellation arrived.
    var cancellations: [CallID: Cancellation] = [:]
    var handlerCancellations: [UInt64: Cancellation] = [:]

    // MARK: Promises

    /// Requests that an answer has declared durable.
    var acknowledged: Set<RequestID> = []
    /// Requests that an answer has declared cancelled.
    var cancelled: Set<RequestID> = []
    /// The error messages of the log.
    var errors: [String] = []
    /// Launches whose temporary directories exist.
    var directories: Set<LaunchID> = []
    /// Requests that someone tried to cancel.
    var unwanted: Set<RequestID> = []
    /// The processes that submitted a request.
    var submitters: [RequestID: Set<Int32>] = [:]
    /// The client processes that the host gave launches to.
    var runners: [LaunchID: Int32] = [:]
    /// The checkpoints that the store has accepted.
    var saved: [LaunchID: Set<[UInt8]>] = [:]
    /// The request of each idempotency key.
    var keyed: [String: RequestID] = [:]
    /// The time of each identifier's last recorded begin, with the number of clock changes until then.
    var begins: [TaskIdentifier: (WallTime, clockChanges: Int)] = [:]
    /// The time at which the store was asked for each request's begin, with the number of clock changes until
    /// then.
    var asked: [RequestID: (WallTime, clockChanges: Int)] = [:]
    /// The number of clock changes until each request was put back.
    var putBackClock: [RequestID: Int] = [:]
    /// Promises of answers about other effects; checked when those effects are done.
    var pledges: [Pledge] = []
    var followers = VirtualFollowers()

    /// The events of the history, for the report of a failure; empty unless ``isTraced``.
    var trace: [String] = []
    var isTraced = false

    // MARK: The host's life

    /// Starts a host with the contents of the store.
    mutating func begin(after earlierHostEnd: WallTime? = nil) throws {
        var beginning = HostBeginning(
            surroundings: HostSurroundings(
                manifestsDirectory: "/m", stateDirectory: "/s", taskEnvironment: []),
            settings: settings, registered: manifests.snapshot, conditions: conditions)
        beginning.recovery = store.recover(beginning.recoveryTerms(at: now.wall))
        beginning.boot = "boot"
        beginning.earlierHostEnd = earlierHostEnd
        // The host does not learn the last begin of a schedule whose manifest is missing now.
        for identifier in begins.keys where beginning.recovery.lastLaunches[identifier] == nil {
            begins[identifier] = nil
        }
        core = HostCore()
        hasDrained = false
        copies.formUnion(beginning.registered.handlers.compactMap(\.libraryHash))
        followers = VirtualFollowers(pending: beginning.recovery.pending)
        try hear(.begin(beginning))
    }

    /// Kills the host. It loses all unsaved state; its tasks die, and its clients lose their connection.
    mutating func kill() {
        note { "the host dies" }
        store.loseNotes()
        // The next host gives the numbers of requests that were never stored to other requests.
        cancelled = cancelled.filter { store.request($0) != nil }
        // The next host removes the directories that this one leaves.
        directories = []
        (inputs, writes, work, tasks) = ([], [], [], [:])
        (clients, awaits) = ([:], [])
        // No answers can come any more, because the connections are closed.
        (unanswered, handlerCalls) = ([], [])
        (connecting, submitting, reports, keys) = ([:], [:], [:], [:])
        (expiries, cancellations, handlerCancellations) = ([:], [:], [:])
        (refusedPayloads, pledges) = ([], [])
        alarm = Wake()
    }

    /// Adds a line to the trace.
    mutating func note(_ line: () -> String) {
        guard isTraced else { return }
        var text = line()
        for module in ["TaskModel", "HostCore", "RequestStore", "Launching", "Scheduling", "Swift"] {
            text.replace("\(module).", with: "")
        }
        trace.append("\(now.boot.inSeconds) \(text.prefix(240))")
    }

    // MARK: Inputs

    /// Gives the oldest input to the core; with `cut`, the host dies after that many effects.
    mutating func takeInput(cut: Int? = nil) throws {
        guard !inputs.isEmpty else { return }
        let input = inputs.removeFirst()
        // As in the real host, a scan's result is the newest snapshot, not the one from when it was asked
        // for.
        switch input {
        case .scanned(let ticket, _): try hear(.scanned(ticket, manifests.snapshot), cut: cut)
        case .registered: try hear(.registered(manifests.snapshot), cut: cut)
        case .conditions: try hear(.conditions(conditions), cut: cut)
        case .settings: try hear(.settings(settings), cut: cut)
        default: try hear(input, cut: cut)
        }
    }

    /// Gives an input to the core at once, and performs its effects.
    mutating func hear(_ input: HostInput, cut: Int? = nil) throws {
        note { "> \(input)" }
        remember(input)
        let effects = core.handle(input, at: now)
        for effect in effects.prefix(cut ?? .max) {
            if isTraced { trace(effect) }
            try perform(effect)
        }
        if cut != nil { return kill() }
        try keepPledges()
    }

    /// Stores what the answer to a call is later compared with, such as the requests and launches that exist
    /// when a cancellation arrives.
    private mutating func remember(_ input: HostInput) {
        switch input {
        case .call(let call, .cancel(let target)): cancellations[call] = affected(by: target)
        case .call(let call, .expire(let target, _)): expiries[call] = target
        case .call(let call, .pause(.until(let end))):
            pauses[call] = Pause(since: now.wall.rounded, until: end?.rounded)
        case .call(let call, .pause(.drained(let end))):
            var pause = Pause(since: now.wall.rounded, until: end?.rounded)
            pause.letsEnd = true
            pauses[call] = pause
        case .launch(.cancel(let id, let call, let identifier)):
            guard let bundle = core.launches[id]?.record.bundle else { return }
            let found = core.requests.pending.values.filter {
                $0.bundle == bundle && (identifier == nil || $0.identifier == identifier)
            }
            handlerCancellations[call] = Cancellation(requests: found.map(\.id), launches: [])
        default: return
        }
        for cancellation in Array(cancellations.values) + Array(handlerCancellations.values) {
            unwanted.formUnion(cancellation.requests)
            unwanted.formUnion(cancellation.launches.compactMap { store.launch($0)?.request })
        }
    }

    private func affected(by target: ControlTarget) -> Cancellation {
        let requests = core.requests.pending.values.filter { request in
            switch target {
            case .request(let id): request.id == id
            case .launch: false
            case .identifier(let identifier): request.identifier == identifier
            case .tag(let tag): request.submission.tags.contains(tag)
            }
        }
        let records = core.launches.all.map(\.record) + core.unsavedEnds.map(\.record)
        let launches = records.filter { record in
            switch target {
            case .request(let id): record.request == id
            case .launch(let id): record.id == id
            case .identifier(let identifier): record.identifier == identifier
            case .tag(let tag): record.tags.contains(tag)
            }
        }
        return Cancellation(requests: requests.map(\.id), launches: launches.map(\.id))
    }

    // MARK: Effects

    private mutating func perform(_ effect: HostEffect) throws {
        switch effect {
        case .store(let ticket, let write):
            try check(write)
            if case .begin(let id, _) = write, core.isGoingToSleep {
                throw BrokenPromise("\(id) starts while the machine prepares to sleep")
            }
            writes.append((ticket, write))
        case .note(let note, let id): store.note(note, of: id)
        case .launch(let order): try launch(order)
        case .expire(let id, let reason): expire(id, reason)
        case .kill(let id, let reason, _):
            guard tasks.removeValue(forKey: id) != nil else { return }
            inputs.append(.launch(Self.ended(id, LaunchEnd(outcome: .killed, reason: reason), at: now)))
        case .reply(_, let call, let result): try take(result, of: call)
        case .measure(let id):
            if tasks[id] != nil { inputs.append(.measured(id, usesCPU ? now.boot : .milliseconds(5))) }
        case .answer(let call, let answer): try take(answer, of: call)
        case .publish(let event): try followers.take(event, core)
        case .work(.removeCopies(let inUse)):
            copies.formIntersection(inUse.union(manifests.snapshot.handlers.compactMap(\.libraryHash)))
        case .work(let work): self.work.append(work)
        case .arm(let wake): alarm = wake
        case .drained: try checkDrained()
        case .setCPULimit(let id, _), .setPriority(let id, _), .setConditions(let id, _):
            if core.launches[id]?.stage == .preparing {
                throw BrokenPromise("the launcher is told something of \(id), which it does not know yet")
            }
        case .notifyClient(let id, let call): try notify(id, call)
        case .closeClient(let id):
            guard clients.removeValue(forKey: id) != nil else {
                throw BrokenPromise("\(id) is closed, and is not connected")
            }
        case .measureClient(let launch, let id):
            if clients[id] != nil { inputs.append(.measured(launch, .milliseconds(30))) }
        case .awaitClientEnd(let id): try awaitEnd(of: id)
        case .log(let line): if line.level == .error { errors.append(line.message) }
        case .retire, .record, .recordPending, .recordSleep, .letSleep: break
        case .transfer(let order): transferOrders.append(order)
        case .replyToSession(_, let call, let answer): sessionAnswers[call] = answer
        }
    }

    private mutating func trace(_ effect: HostEffect) {
        switch effect {
        case .record, .recordPending, .log, .setPriority: return
        default: note { "    \(effect)" }
        }
    }

    private mutating func launch(_ order: LaunchOrder) throws {
        try checkAlone(order.id, order.request.id, order.record.identifier)
        guard let record = store.launch(order.id), record.state != .ended,
            record.request == order.request.id
        else {
            throw BrokenPromise("\(order.id) is launched before it is stored")
        }
        if followers.expiring.contains(order.id) {
            throw BrokenPromise("\(order.id) is launched, and was told to stop before")
        }
        if record.attempt != order.record.attempt { throw BrokenPromise("\(order.id) has the wrong attempt") }
        if order.begun.checkpoint != store.checkpoint(of: order.request.id) {
            throw BrokenPromise("\(order.id) is launched without the newest checkpoint")
        }
        if !record.isSimulated, core.explain(record).start?.mayStart != true {
            throw BrokenPromise("\(order.id) is launched, and its explanation does not permit it")
        }
        if let hash = order.handler.libraryHash, order.place.program == nil, !copies.contains(hash) {
            throw BrokenPromise("\(order.id) is launched, and the copy of its library was removed")
        }
        tasks[order.id] = VirtualTask(order: order)
    }

    private mutating func expire(_ id: LaunchID, _ reason: Reason) {
        guard var task = tasks[id], task.expiration == nil else { return }
        task.expiration = reason
        tasks[id] = task
        inputs.append(.launch(.expiring(id, reason, at: now)))
    }

    // MARK: Calls

    /// Makes a call from outside.
    @discardableResult
    mutating func call(_ asked: HostCall) -> CallID {
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        unanswered.insert(id)
        if case .submit(let submission, _) = asked {
            keys[id] = submission.idempotencyKey.map { "\(submission.identifier) \($0)" }
        }
        inputs.append(.call(id, asked))
        return id
    }

    /// Makes a call from a handler.
    mutating func handlerCall(_ make: (UInt64) -> LaunchEvent) {
        lastHandlerCall += 1
        handlerCalls.insert(lastHandlerCall)
        inputs.append(.launch(make(lastHandlerCall)))
    }

    // MARK: What happens

    static func ended(_ id: LaunchID, _ end: LaunchEnd, at now: Moment) -> LaunchEvent {
        .ended(EndedLaunch(id: id, end: end, at: now, cpuTime: .milliseconds(7)))
    }

    /// Commits all waiting writes, except those that `refuses` selects. With `failing`, the disk is full.
    mutating func commit(failing: Bool = false, refusing refuses: () -> Bool = { false }) {
        let batch = writes
        writes = []
        let error = StoreRefusal.store(
            StoreError(
                code: .diskFull, subject: "/s/store.sqlite", finding: "no space is left", remedy: "Make room")
        )
        for (ticket, write) in batch {
            let result = failing || refuses() ? .failure(error) : store.apply(write)
            note { "  commit \(ticket.rawValue): \(result)" }
            if case .success(let answer) = result { take(answer, to: write) }
            inputs.append(.stored(ticket, result))
        }
    }

    private mutating func take(_ answer: StoreAnswer, to write: StoreWrite) {
        switch (write, answer) {
        case (.accept, .accepted(let acceptance)):
            if !acceptance.isRepeat { followers.stored.insert(acceptance.request.id) }
        case (.begin(let id, _), .begun(let begun)):
            begins[begun.record.identifier] = asked[id]
        case (.checkpoint(let id, let bytes), .saved(true)): saved[id, default: []].insert(bytes)
        default: return
        }
    }

    /// Does one piece of the waiting work.
    mutating func doWork(_ index: Int, failing: Bool = false) {
        let error = SubmissionError(
            code: .unavailable, subject: "worker", finding: "no space is left", remedy: "Make room")
        switch work.remove(at: index) {
        case .scan(let ticket): inputs.append(.scanned(ticket, manifests.snapshot))
        case .checkPayload(let ticket, _, _, let payload):
            inputs.append(.payloadChecked(ticket, payload == Self.badPayload ? error : nil))
        case .prepare(let id, let handler, let identifier, _):
            var place = LaunchPlace(dataDirectory: "/s/data", temporaryDirectory: "/s/tmp/\(id)")
            if handler.manifest.declaration(for: identifier)?.call != nil { place.program = .call([1]) }
            if !failing { directories.insert(id) }
            inputs.append(.prepared(id, failing ? .failure(error) : .success(place)))
        case .findDate(let identifier, _, _, let after):
            if failing {
                dateless.insert(identifier)
                inputs.append(.dated(identifier, after: after, .never))
            } else {
                inputs.append(
                    .dated(identifier, after: after, .next(after + .seconds(3600), text: "soon")))
            }
        case .removeTemporary(let id): directories.remove(id)
        case .removeCopies, .removeApps, .defineConditions, .watchStorage, .watchHeat, .watchFiles,
            .openMachineAlarm:
            break
        }
    }

    /// A payload that its check refuses.
    static let badPayload = #"{"path": "/etc/shadow"}"#

    /// Ends a task's process.
    mutating func end(_ id: LaunchID, _ end: LaunchEnd) {
        tasks[id] = nil
        inputs.append(.launch(Self.ended(id, end, at: now)))
    }

    /// Changes the directories of manifests and plugins.
    mutating func install(_ change: (inout VirtualManifests) -> Void) {
        change(&manifests)
        copies.formUnion(manifests.snapshot.handlers.compactMap(\.libraryHash))
        inputs.append(.registered(manifests.snapshot))
    }

    mutating func pass(_ time: Duration) { now = now.advanced(by: time) }

    /// Sets the wall clock; the host's timer notices it.
    mutating func setClock(_ change: Duration) {
        now.wall = now.wall + change
        clockChanges += 1
        inputs.append(.timePassed(localTimeOffset: .zero))
    }

    /// The time of the next alarm on CLOCK_BOOTTIME.
    var nextAlarm: Duration? {
        let wall = alarm.wall.map { now.boot + max(.zero, $0 - now.wall) }
        return [alarm.boot, wall].compactMap(\.self).min()
    }

    /// Delivers the alarm if it is due; each alarm comes once.
    mutating func ring() {
        guard let next = nextAlarm, next <= now.boot else { return }
        alarm = Wake()
        inputs.append(.timePassed(localTimeOffset: .zero))
    }
}
