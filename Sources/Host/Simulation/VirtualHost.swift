import DequeModule
import HandlerRegistry
import HostCore
import HostSettings
import MemoryStore
import Recording
import Scheduling
public import TaskModel

/// A host in memory with a virtual clock: ``HostCore`` with simulated surroundings.
///
/// It takes the place of `TaskHost`, but without processes, files and waiting. Its store answers immediately,
/// its launches follow plans, and its clock jumps from one event to the next. The core makes all decisions.
/// The same occurrences, plans and dates give the same launches.
public struct VirtualHost {
    /// Finds the first date of a calendar expression after a time, in a time zone or, with `nil`, the
    /// machine's.
    public typealias DateFinder = @Sendable (_ expression: String, _ zone: String?, WallTime) -> WallTime?

    /// How long the machine stays awake after a schedule woke it: 10 min, the run time of a processing task.
    static let awakeTime = Duration.seconds(600)
    /// How long the machine waits for the host's permission to sleep: 5 s, like logind.
    static let sleepDelay = Duration.seconds(5)
    /// How long the store keeps ended launches and requests: 1 day; this limits the memory.
    static let keptAge = Duration.seconds(86_400)

    /// The host's core, which makes all decisions.
    private(set) var core = HostCore()
    /// The present time of the virtual clocks.
    private(set) var now: Moment
    /// The result so far.
    private(set) var tally: Tally
    private(set) var store = MemoryStore()
    private(set) var launcher: VirtualLauncher
    /// Called with each line that a real host would record.
    var record: ((RecordedEntry) -> Void)?

    private let findDate: DateFinder
    /// The future occurrences, except what launches do.
    private var agenda = Agenda<Occurrence>()
    private var inputs: Deque<HostInput> = []
    /// The writes for the store, which are performed when all inputs are handled.
    private var writes: [(ticket: StoreTicket, write: StoreWrite)] = []
    /// The alarms that the core wants; each of them comes only once.
    private var wake = Wake()
    private var registered = RegistrySnapshot(handlers: [], problems: [])
    private var localTimeOffset = Duration.zero
    /// When the newest launch of each identifier began, before the present core was created.
    private var begins: [TaskIdentifier: WallTime] = [:]
    private var sleep: Sleep?
    private var nextPruning: WallTime
    private var lastCall = 0
    /// The clients' submissions that have no answer yet.
    private var submissions: [CallID: TaskIdentifier] = [:]
    private var handlerSubmissions: [UInt64: TaskIdentifier] = [:]

    /// A sleep that was announced and has not begun.
    private struct Sleep {
        var end: Duration
        var notBefore: Duration
        /// Whether the host has permitted the sleep.
        var isReleased = false
    }

    /// Creates a host, which does nothing before ``begin(_:)``.
    ///
    /// - Parameters:
    ///   - now: The start of the virtual clocks.
    ///   - model: Decides what launches do.
    ///   - detail: How closely waits are examined.
    ///   - findDate: Finds the dates of calendar schedules.
    init(
        at now: Moment, model: any LaunchModel, detail: Tally.Detail = .waits,
        findDate: @escaping DateFinder = { _, _, _ in nil }
    ) {
        self.now = now
        self.findDate = findDate
        launcher = VirtualLauncher(model: model)
        tally = Tally(detail: detail)
        nextPruning = now.wall + Self.keptAge
    }

    // MARK: Life

    /// Starts a host with the contents of the store; launches of an earlier host are lost.
    mutating func begin(_ world: VirtualBeginning) {
        begins.merge(world.lastLaunches, uniquingKeysWith: max)
        var world = world
        world.lastLaunches = begins
        localTimeOffset = world.localTimeOffset
        let beginning = HostBeginning(world, store: &store, at: now.wall)
        registered = beginning.registered
        core = HostCore()
        hear(.begin(beginning))
    }

    /// Ends the host without a chance to store anything; ``begin(_:)`` starts the next host.
    mutating func die(at moment: Moment) {
        tally.noteWaits(at: now, core.scheduler)
        tally.noteRestart(at: now.wall)
        begins.merge(tally.newestStarts, uniquingKeysWith: max)
        now = moment
        store.loseNotes()
        launcher.loseAll()
        agenda = Agenda()
        (inputs, writes, submissions, handlerSubmissions) = ([], [], [:], [:])
        (wake, sleep) = (Wake(), nil)
    }

    /// Adds an occurrence at a time on CLOCK_BOOTTIME; one in the past occurs next.
    mutating func add(_ occurrence: Occurrence, at boot: Duration) { agenda.add(occurrence, at: boot) }

    /// Runs until a time on CLOCK_BOOTTIME, including everything at that time.
    mutating func run(until end: Duration) {
        while true {
            let alarm = alarm
            guard let next = [agenda.next, launcher.next, alarm].compactMap(\.self).min(), next <= end
            else { break }
            advance(to: next)
            // If several are due, the alarm comes first, so that due decisions precede new events. Then come
            // occurrences, and then the steps of launches.
            if let alarm, alarm <= now.boot {
                wake = Wake()
                hear(.timePassed(localTimeOffset: localTimeOffset))
            } else if let time = agenda.next, launcher.next.map({ time <= $0 }) ?? true {
                if let occurrence = agenda.removeFirst() { happen(occurrence) }
            } else if let event = launcher.step(at: now) {
                hear(event)
            }
        }
        advance(to: end)
        tally.settle(at: now, core.scheduler)
    }

    /// When the core wants the next `timePassed`, on CLOCK_BOOTTIME; `nil` for never.
    private var alarm: Duration? {
        let wall = wake.wall.map { now.boot + max(.zero, $0 - now.wall) }
        return [wake.boot, wall].compactMap(\.self).min()
    }

    private mutating func advance(to boot: Duration) {
        if boot > now.boot { setClocks(now.advanced(by: boot - now.boot)) }
    }

    private mutating func setClocks(_ moment: Moment) {
        tally.noteWaits(at: now, core.scheduler)
        now = moment
        guard now.wall >= nextPruning else { return }
        nextPruning = now.wall + Self.keptAge
        store.prune(keepingNewest: 0, olderThan: now.wall + (.zero - Self.keptAge))
    }

    // MARK: What happens

    private mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .input(let input):
            if case .registered(let snapshot) = input { registered = snapshot }
            hear(input)
        case .call(let asked): call(asked)
        case .withdraw(let identifier):
            if let request = core.scheduler.pendingRequest(of: identifier) {
                call(.cancel(.request(request.id)))
            }
        case .simulate(let identifier):
            if core.scheduler.pendingRequest(of: identifier) != nil {
                call(.simulate(identifier, debug: false))
            }
        case .stop(let identifier, .cancelledByUser):
            for (id, launch) in launcher.running.sorted(by: { $0.key < $1.key })
            where launch.order.record.identifier == identifier { call(.cancel(.launch(id))) }
        case .stop(let identifier, let reason): call(.expire(.identifier(identifier), reason))
        case .localTime(let offset):
            localTimeOffset = offset
            hear(.timePassed(localTimeOffset: offset))
        case .sleep(let end, let notBefore):
            sleep = Sleep(end: end, notBefore: notBefore)
            agenda.add(
                .fallAsleep(until: end), at: max(notBefore, min(end, now.boot + Self.sleepDelay)))
            hear(.willSleep)
        case .fallAsleep(let end): fallAsleep(until: end)
        case .clocks(let moment):
            setClocks(
                Moment(boot: max(now.boot, moment.boot), monotonic: moment.monotonic, wall: moment.wall))
        }
    }

    private mutating func call(_ asked: HostCall) {
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        if case .submit(let submission, _) = asked { submissions[id] = submission.identifier }
        hear(.call(id, asked))
    }

    private mutating func hear(_ event: LaunchEvent) {
        if case .submit(_, let call, let submission) = event {
            handlerSubmissions[call] = submission.identifier
        }
        hear(.launch(event))
    }

    private mutating func fallAsleep(until end: Duration) {
        guard sleep?.end == end else { return }
        sleep = nil
        let machine = wake.machine.map { now.boot + max(.zero, $0 - now.wall) }
        let wakes = min(end, machine ?? end)
        let gap = max(.zero, wakes - now.boot)
        let start = now.wall
        setClocks(Moment(boot: now.boot + gap, monotonic: now.monotonic, wall: now.wall + gap))
        launcher.sleep(for: gap)
        tally.noteSleep(from: start, until: now.wall)
        if wakes < end {
            let next = min(end, wakes + Self.awakeTime)
            agenda.add(.sleep(until: end, notBefore: next), at: next)
        }
        hear(HostInput.hasWoken)
    }

    // MARK: Inputs and effects of the core

    /// Gives an input to the core, and performs all effects at the same moment, including those of store
    /// results.
    private mutating func hear(_ input: HostInput) {
        inputs.append(input)
        while true {
            while let input = inputs.popFirst() {
                for effect in core.handle(input, at: now) { perform(effect) }
            }
            if writes.isEmpty { return }
            commit()
        }
    }

    private mutating func commit() {
        let batch = writes
        writes = []
        for (ticket, write) in batch {
            let result = store.apply(write)
            if case .end(let ended, _, _, _, _) = write, let request = store.launch(ended.id)?.request,
                store.request(request)?.state == .done
            {
                launcher.forget(request)
            }
            inputs.append(.stored(ticket, result))
        }
    }

    private mutating func perform(_ effect: HostEffect) {
        switch effect {
        case .store(let ticket, let write):
            writes.append((ticket, write))
            if case .markExpiring(let id, let reason, _) = write {
                tally.noteExpiration(of: id, reason)
            }
        case .note(let note, let id): store.note(note, of: id)
        case .launch(let order): launcher.launch(order, at: now)
        case .expire(let id, let reason): report(launcher.expire(id, reason, at: now))
        case .kill(let id, let reason, _): report(launcher.kill(id, reason, at: now))
        case .setCPULimit(let id, let limit): launcher.setCPULimit(id, limit, at: now)
        case .measure(let id):
            if let used = launcher.cpuTime(of: id, at: now) { inputs.append(.measured(id, used)) }
        case .reply(_, let call, let result):
            let identifier = handlerSubmissions.removeValue(forKey: call)
            if case .failure = result, let identifier { tally.noteRefusal(of: identifier) }
        case .answer(let call, let answer):
            let identifier = submissions.removeValue(forKey: call)
            if case .refused = answer, let identifier { tally.noteRefusal(of: identifier) }
        case .record(let event):
            record?(RecordedEntry(at: now, .event(event)))
            tally.note(event, at: now)
        case .recordPending(let requests):
            for request in requests { perform(.record(.submitted(request))) }
        case .recordSleep(let sleeps): record?(RecordedEntry(at: now, sleeps ? .willSleep : .hasWoken))
        case .work(let work): perform(work)
        case .arm(let wake): self.wake = wake
        case .letSleep:
            guard let wanted = sleep, !wanted.isReleased else { return }
            sleep?.isReleased = true
            agenda.add(.fallAsleep(until: wanted.end), at: max(now.boot, wanted.notBefore))
        // A virtual host has no clients, no transfers, and no listeners to its events.
        case .publish, .log, .retire, .setPriority, .setConditions, .drained, .notifyClient, .closeClient,
            .measureClient, .awaitClientEnd, .transfer, .replyToSession:
            return
        }
    }

    private mutating func report(_ event: LaunchEvent?) {
        if let event { inputs.append(.launch(event)) }
    }

    private mutating func perform(_ work: HostWork) {
        switch work {
        case .scan(let ticket): inputs.append(.scanned(ticket, registered))
        // The payload was checked when the request was recorded, and is not in the recording.
        case .checkPayload(let ticket, _, _, _): inputs.append(.payloadChecked(ticket, nil))
        case .prepare(let id, _, _, _):
            inputs.append(.prepared(id, .success(LaunchPlace(dataDirectory: "", temporaryDirectory: ""))))
        case .findDate(let identifier, let expression, let zone, let after):
            let date = findDate(expression, zone, after)
            inputs.append(
                .dated(identifier, after: after, date.map { .next($0, text: "") } ?? .never))
        case .openMachineAlarm: inputs.append(.machineAlarm(.ready))
        case .removeTemporary, .removeCopies, .removeApps, .defineConditions, .watchStorage, .watchHeat,
            .watchFiles:
            return
        }
    }
}
