import DequeModule
import HandlerRegistry
import HostSettings
public import Scheduling
public import TaskModel

/// The decisions of the host: inputs go in, and the effects to perform come out.
///
/// The core has no clock, lock, Swift `Task` or I/O. `TaskHost` connects it to the real system. Tests connect
/// it to an invented one that fails, answers late, or kills the host between two effects. Three rules apply
/// everywhere:
///
/// - Everything that must survive a crash is stored first. The caller gets its answer after the store's
///   answer.
/// - The store answers in the order in which it was asked, so a later decision may rely on an earlier write.
/// - Every call gets one answer, and every launch that has begun ends once.
public struct HostCore: Sendable {
    /// The phases from the start of the host to its end.
    enum Phase: Sendable {
        case starting
        case serving
        /// The host was asked to stop; no launch starts any more.
        case draining
        /// No launch is under way any more, but the last writes are.
        case closing
        /// All writes are answered; the host has ended.
        case ended
    }

    /// The time until a failed write is made again: 5 s.
    ///
    /// Our choice: a full disk is rarely emptied faster, and an attempt costs one failed commit.
    static let storeRetryDelay = Duration.seconds(5)

    /// The longest time awake from the announcement of a sleep until the host launches again: 60 s.
    ///
    /// Our choice: logind lets the machine sleep after 5 s, and the kernel needs a few seconds more. The time
    /// counts on CLOCK_MONOTONIC, which stops while the machine sleeps.
    static let longestSleepPreparation = Duration.seconds(60)

    /// Whether the machine has announced a sleep and not reported its end.
    var isGoingToSleep: Bool { sleepLimit != nil }

    /// The scheduler that decides about starts and stops.
    public internal(set) var scheduler = Scheduler()
    var phase = Phase.starting
    var surroundings = HostSurroundings(
        manifestsDirectory: "", stateDirectory: "", taskEnvironment: [])
    var settings: SettingsSnapshot?
    /// The settings with which the host began; those that need a restart are still in force.
    var firstSettings: SettingsSnapshot?
    var registered = RegistrySnapshot(handlers: [], problems: []) {
        didSet { handlers = HandlerTable(registered.handlers) }
    }
    /// The handlers of ``registered``, by bundle.
    private(set) var handlers = HandlerTable()
    /// The machine's conditions; all unknown until ``HostInput/begin(_:)``.
    var conditions = Conditions(
        power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
        pressure: .unknown, gpu: .unknown)
    /// The past conditions since the host began; ``HostInput/history(_:)`` adds those from before.
    var history = ConditionHistory()
    /// From when on the next input renews the scheduler's ``ConditionOutlook``, the conditions that are
    /// expected from history; `nil` means with any input.
    var nextOutlook: WallTime?
    /// Whether the scheduler has such an outlook.
    var hasOutlook = false
    var localTimeOffset: Duration?
    /// When the preparation for a sleep ends in any case, on CLOCK_MONOTONIC; `nil` if the machine does not
    /// prepare for one.
    var sleepLimit: Duration?
    var machineAlarm = MachineAlarmState.unused

    var requests = RequestBook()
    /// Wall time minus boot time when the queues were last dated; `nil` before the first alarm.
    var queueClock: Duration?
    var launches = LaunchBook()
    var clients = ClientBook()
    var bundles = BundleKeeper()
    var advice = AdviceBook()
    var vetoes = VetoWatch()
    var flaps = FlapBook()
    var rates = SubmissionRates()
    /// Whether a client follows the host's events.
    var isFollowed = false
    /// The hash of the library with which each app was last launched for an installation.
    var launchedApps: [BundleIdentifier: String] = [:]

    var desk = StoreDesk()
    var cancellations = CancellationBook()
    /// The ends of launches that the store could not record yet, oldest first.
    var unsavedEnds: [UnsavedEnd] = []
    /// The bundles that are paused because their launches crashed.
    var crashing: Set<BundleIdentifier> = []
    /// The bundles whose last write of their state failed.
    var unstoredBundles: Set<BundleIdentifier> = []
    /// When failed writes are made again, on CLOCK_BOOTTIME; `nil` if no attempt is planned.
    var nextRetry: Duration?
    /// The submissions and calls that wait for work outside the core.
    var parked: [WorkTicket: Parked] = [:]
    private var lastWork = 0
    var transfers = TransferBook()
    /// How far the attempts under way are.
    var transferMarks: [TransferID: TransferMark] = [:]
    /// The marks of attempts whose transfers have ended before them, such as by a cancellation.
    ///
    /// Their bytes count for the bundle: the program has taken them from what the bundle may move.
    var abandonedMarks: [TransferID: (bundle: BundleIdentifier, mark: TransferMark)] = [:]
    /// The transfers whose end is not stored yet.
    var unstoredEnds: Set<TransferID> = []
    /// The transfers whose attempts the host has stopped, because the conditions do not permit them.
    var stoppedTransfers: Set<TransferID> = []
    /// What the program was told of the bytes that bundles may move.
    var transferAllowance = TransferAllowance()
    /// The transfers whose end could not be stored yet.
    var unsavedTransfers: [UnsavedTransfer] = []
    /// When a host that stops no longer waits for the ends of attempts, on CLOCK_BOOTTIME.
    var transferStop: Duration?
    var transferUse: [BundleIdentifier: TransferUse] = [:]
    /// The bundles whose transfers have moved bytes since their use was last stored.
    var changedTransferUse: Set<BundleIdentifier> = []
    var lastTransfer: Int64 = 0
    /// The ends and the forgotten transfers of the present input, which share one write of each kind.
    var endedTogether: EndedTransfers?
    var sessions = SessionBook()
    /// The highest request number that was used; only the host assigns numbers.
    var lastRequest: Int64 = 0
    var lastLaunch: Int64 = 0

    /// The reports of launches that the scheduler does not have yet.
    var activities = ActivityBook()
    private var events: Deque<SchedulerEvent> = []
    private var effects: [HostEffect] = []
    /// Whether the present input has led to a write, so that other writes can share its commit.
    private(set) var hasStored = false
    private var wake = Wake()
    private var armed = Wake()
    /// Whether the temperature is watched, because a launch is under way.
    private var watchesHeat = false
    private var mustArm = false
    /// The time of the present input.
    var now = Moment(boot: .zero, monotonic: .zero, wall: WallTime(milliseconds: 0))

    /// Creates a core that has not begun; its first input must be ``HostInput/begin(_:)``.
    public init() {}

    /// Handles one input.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - now: The time of the input; its boot and monotonic times must not decrease.
    /// - Returns: The effects to perform, in order.
    public mutating func handle(_ input: HostInput, at now: Moment) -> [HostEffect] {
        self.now = now
        mustArm = false
        hasStored = false
        take(input)
        renewOutlook()
        drainEvents()
        runTransfers()
        publishVetoes()
        saveBundles()
        watchHeat()
        finishIfDrained()
        endIfClosed()
        arm()
        defer { effects = [] }
        return effects
    }

    private mutating func take(_ input: HostInput) {
        switch input {
        case .begin(let beginning): begin(beginning)
        case .call(let call, let asked): take(asked, of: call)
        case .launch(let event): take(event)
        case .conditions(let conditions): take(conditions)
        case .settings(let snapshot): take(snapshot)
        case .registered(let snapshot): take(snapshot)
        case .timePassed(let offset): timePassed(offset)
        case .localTimeChanges(let changes): feed(.localTimeChanges(changes))
        case .willSleep: willSleep()
        case .hasWoken: hasWoken()
        case .filesChanged(let paths): filesChanged(paths)
        case .unwatchable(let path, let problem):
            log(.warning, "\(path) can't be watched for schedules: \(problem)")
        case .history(let past): take(past)
        case .followed(let isFollowed): self.isFollowed = isFollowed
        case .stop: stop()
        case .killAll: killAll()
        case .clientLeft(let id): clientLeft(id)
        case .clientEnded(let id, let isDead): clientEnded(id, isDead: isDead)
        case .stored(let ticket, let result): stored(ticket, result)
        case .scanned(let ticket, let snapshot):
            take(snapshot)
            drainEvents()
            if let parked = parked.removeValue(forKey: ticket) { resume(parked) }
        case .payloadChecked(let ticket, let problem):
            if let parked = parked.removeValue(forKey: ticket) { resume(parked, problem) }
        case .prepared(let id, let place): prepared(id, place)
        case .measured(let id, let cpu): measured(id, cpu)
        case .dated(let identifier, let after, let date): dated(identifier, after: after, date)
        case .machineAlarm(let state): take(state)
        case .workFailed(let problem, let id): log(.warning, problem, launch: id)
        case .transfers(let reports): take(reports)
        }
    }

    // MARK: Effects

    mutating func emit(_ effect: HostEffect) { effects.append(effect) }

    mutating func log(
        _ level: LogLine.Level, _ message: String, launch: LaunchID? = nil, identifier: TaskIdentifier? = nil
    ) {
        emit(
            .log(
                LogLine(
                    at: now.wall, level: level, source: .host, launch: launch,
                    identifier: identifier ?? launch.flatMap { launches[$0]?.record.identifier },
                    message: message)))
    }

    mutating func store(_ write: StoreWrite, _ errand: StoreErrand) {
        hasStored = true
        emit(.store(desk.enter(errand), write))
    }

    mutating func nextWork() -> WorkTicket {
        lastWork += 1
        return WorkTicket(rawValue: lastWork)
    }

    mutating func answer(_ call: CallID, _ answer: HostAnswer) { emit(.answer(call, answer)) }

    mutating func refuse(_ call: CallID, _ error: SubmissionError) { answer(call, .refused(error)) }

    // MARK: The scheduler

    /// Adds an event for the scheduler, after those that wait already.
    ///
    /// First, it adds the held reports of launches on which the scheduler's decision can depend.
    mutating func feed(_ event: SchedulerEvent) {
        events.append(
            contentsOf: activities.given(
                before: event, at: now.monotonic, isShortOfMemory: scheduler.isUnderMemoryPressure))
        events.append(event)
    }

    /// Passes all waiting events to the scheduler, and performs its actions.
    ///
    /// Actions can add events; the function returns when none is left.
    mutating func drainEvents() {
        repeat {
            drainWaitingEvents()
            advanceQueues()
        } while !events.isEmpty
    }

    private mutating func drainWaitingEvents() {
        while let event = events.popFirst() {
            emit(.record(event))
            if case .conditionsChanged(let conditions) = event { history.note(conditions, at: now.wall) }
            let actions = scheduler.handle(event, at: now)
            // After the start, `vetoes` examines all pending requests in any case.
            if phase != .starting { vetoes.note(event, actions) }
            for case .wake(let wake) in actions {
                self.wake = wake
                mustArm = true
            }
            // Conditions come before the expirations that their change causes, so that a handler can see the
            // cause.
            notifyConditions(after: event)
            for action in actions { perform(action) }
            if case .simulate(let id) = event { afterSimulation(of: id) }
        }
    }

    private mutating func publishVetoes() {
        guard isFollowed else { return vetoes.pause() }
        for id in vetoes.takePart(of: requests.pending.keys)
        where requests.starting[id] == nil && !requests.foreseen.contains(id)
            && !requests.withdrawing.contains(id)
        {
            // Only the first request of a queue has news; the others wait for it.
            guard let request = requests.pending[id], !requests.queues.isWaiting(request) else { continue }
            let verdicts = explain(request, at: now).vetoes
            if vetoes.isNews(verdicts.map(\.policy), of: id) {
                emit(.publish(.requestBlocked(request, verdicts)))
            }
        }
    }

    // MARK: Alarms

    /// Sends all alarms again, because the machine's alarm has just been opened.
    mutating func rearm() { mustArm = true }

    /// Lets the temperature be watched while a launch is under way.
    private mutating func watchHeat() {
        guard watchesHeat == launches.isEmpty else { return }
        watchesHeat = !launches.isEmpty
        emit(.work(.watchHeat(watchesHeat)))
    }

    /// Sets the next alarm: the earliest of the scheduler's and the core's.
    private mutating func arm() {
        var next = wake
        let sleepEnd = sleepLimit.map { now.boot + max(.zero, $0 - now.monotonic) }
        next.boot = [
            wake.boot, nextRetry, launches.deadlines.values.min(), bundles.due, sleepEnd, transferAlarm,
        ]
        .compactMap(\.self).min()
        // A host that stops fails no requests.
        let overdue = phase == .serving ? requests.firstAppendedDeadline() : nil
        let queued = phase == .serving ? requests.nextQueueDate() : nil
        next.wall = [wake.wall, overdue, queued, transferDate()].compactMap(\.self).min()
        guard mustArm || next != armed else { return }
        armed = next
        emit(.arm(next))
    }

    private mutating func timePassed(_ offset: Duration) {
        // The alarm that came is used up, so a new one must be set.
        mustArm = true
        if let due = nextRetry, due <= now.boot { retryWrites() }
        if let due = bundles.due, due <= now.boot { writeBundles() }
        takeLocalTime(offset)
        endOverdueSleep()
        endOverdueInClients()
        failOverdueAppended()
        let offset = now.wall.sinceEpoch - now.boot
        if let before = queueClock, offset - before > .seconds(1) || before - offset > .seconds(1) {
            requests.redateQueues()
        }
        queueClock = offset
        requests.releaseQueues(until: now.wall)
        feed(.timePassed)
    }

    /// Fails the requests that still wait for another one at their clients' deadlines.
    ///
    /// The scheduler does this for all other requests; it does not have these yet.
    private mutating func failOverdueAppended() {
        guard phase == .serving else { return }
        for request in requests.takeOverdueAppended(until: now.wall) { cancel(request.id, .deadlinePassed) }
    }

    /// Updates the offset of local time, on which budgets and hours of use depend.
    ///
    /// It changes with daylight saving time and the time zone.
    mutating func takeLocalTime(_ offset: Duration) {
        guard offset != localTimeOffset else { return }
        localTimeOffset = offset
        nextOutlook = nil
        feed(.localTimeChanged(offset: offset))
    }

    // MARK: Stopping

    private mutating func stop() {
        guard phase == .starting || phase == .serving else { return }
        phase = .draining
        let count = launches.count
        log(.notice, count == 0 ? "stopping" : "stopping; waiting for \(count.counted("launch", "launches"))")
        emit(.publish(.hostStopping))
        feed(.shutdown)
        stopTransfers()
        refuseParked()
    }

    /// Refuses the submissions and calls that wait for work outside the core, because the host is stopping.
    private mutating func refuseParked() {
        let waiting = parked.sorted { $0.key.rawValue < $1.key.rawValue }
        parked = [:]
        for (_, parked) in waiting {
            switch parked {
            case .call(let call, _): refuse(call, notServing("bgtaskd"))
            case .unpermitted(let submission, let submitter, _), .unchecked(let submission, let submitter, _):
                refuse(submission, submitter, notServing("\(submission.identifier)"))
            }
        }
    }

    private mutating func killAll() {
        for id in launches.ids {
            guard let launch = launches[id], launch.stage != .ending else { continue }
            if launch.client != nil {
                endInClient(id, .stopped(.hostShutdown, message: "the host was stopped twice"))
            } else if launch.stage == .preparing {
                launches[id]?.stopBeforeStart = .hostShutdown
            } else {
                emit(.kill(id, .hostShutdown, message: "the host was stopped twice"))
            }
        }
    }

    private mutating func finishIfDrained() {
        letSleepIfDrained()
        guard phase == .draining, launches.isEmpty, requests.starting.isEmpty, haveTransfersStopped else {
            return
        }
        // Failed writes are made one last time. What the store does not accept now is lost with the host.
        phase = .closing
        retryWrites()
        writeBundles()
        saveTransferUse()
    }

    private mutating func endIfClosed() {
        guard phase == .closing, desk.isEmpty else { return }
        phase = .ended
        for client in clients.ids { emit(.closeClient(client)) }
        emit(.drained)
    }
}

extension Int {
    /// The number with the noun in singular or plural: `1 launch`, `2 launches`.
    func counted(_ singular: String, _ plural: String) -> String {
        "\(self) \(self == 1 ? singular : plural)"
    }
}
