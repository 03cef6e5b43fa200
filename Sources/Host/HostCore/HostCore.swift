import DequeModule
import HandlerRegistry
import HostSettings
public import Scheduling
public import TaskModel

/// The host's decisions: what it has heard in, what it does out.
///
/// A value without clock, lock, task or I/O. One shell gives it the real world (`TaskHost`), a test a virtual
/// one that fails, answers late and kills the host between any two effects. Three rules hold everywhere:
///
/// - What must survive is stored first; the caller is answered when the store has answered.
/// - The store answers in the order in which it was asked, so a later decision may rely on an earlier write.
/// - Every call is answered once, and every launch that has begun ends once.
public struct HostCore: Sendable {
    /// Where the host is in its life.
    enum Phase: Sendable {
        case starting
        case serving
        /// Told to stop; nothing starts.
        case draining
        /// Nothing runs any more; the last writes are under way.
        case closing
        /// It has said its last word.
        case ended
    }

    /// How long a write that the store could not take waits for the next try: 5 s.
    ///
    /// Ours: a full disk is seldom emptied faster, and a try costs one failed commit.
    static let storeRetryDelay = Duration.seconds(5)

    /// The scheduler that decides about starts and stops.
    public internal(set) var scheduler = Scheduler()
    var phase = Phase.starting
    var surroundings = HostSurroundings(
        manifestsDirectory: "", stateDirectory: "", isolation: "", taskEnvironment: [])
    var settings: SettingsSnapshot?
    /// The settings that the host began with; some of them stay in force until it starts again.
    var firstSettings: SettingsSnapshot?
    var registered = RegistrySnapshot(handlers: [], problems: []) {
        didSet { handlers = HandlerTable(registered.handlers) }
    }
    /// The same handlers, for look-ups.
    private(set) var handlers = HandlerTable()
    /// Unknown until the beginning says it.
    var conditions = Conditions(
        power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
        pressure: .unknown, gpu: .unknown)
    /// Begins with the host; what was before comes by ``HostInput/history(_:)``.
    var history = ConditionHistory()
    var localTimeOffset: Duration?
    var isGoingToSleep = false
    var machineAlarm = MachineAlarmState.unused

    var requests = RequestBook()
    var launches = LaunchBook()
    var clients = ClientBook()
    var bundles = BundleKeeper()
    var advice = AdviceBook()
    var vetoes = VetoWatch()
    var isFollowed = false
    /// The hash of the library for which each app was last launched.
    var launchedApps: [BundleIdentifier: String] = [:]

    var desk = StoreDesk()
    var cancellations = CancellationBook()
    /// Ends that the store could not take, oldest first.
    var unsavedEnds: [UnsavedEnd] = []
    /// Bundles whose state the store could not take since it last took it.
    var unstoredBundles: Set<BundleIdentifier> = []
    /// When they are tried again, on CLOCK_BOOTTIME.
    var nextRetry: Duration?
    /// What waits for a reading of the directories, or for the check of a payload.
    var parked: [WorkTicket: Parked] = [:]
    private var lastWork = 0
    /// The highest numbers that were given; the host is the only one that gives them.
    var lastRequest: Int64 = 0
    var lastLaunch: Int64 = 0

    private var events: Deque<SchedulerEvent> = []
    private var effects: [HostEffect] = []
    /// Whether this input has led to a write already: others may share its commit.
    private(set) var hasStored = false
    private var wake = Wake()
    private var armed = Wake()
    private var mustArm = false
    /// The moment of the input that is being handled.
    var now = Moment(boot: .zero, monotonic: .zero, wall: WallTime(milliseconds: 0))

    /// Makes a core that has not begun; the first input is ``HostInput/begin(_:)``.
    public init() {}

    /// Takes in one input and says what is to be done.
    ///
    /// - Parameters:
    ///   - input: What was heard.
    ///   - now: When; boot and monotonic time never run back.
    /// - Returns: What to do, in order.
    public mutating func handle(_ input: HostInput, at now: Moment) -> [HostEffect] {
        self.now = now
        mustArm = false
        hasStored = false
        take(input)
        drainEvents()
        publishVetoes()
        saveBundles()
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

    /// Enters an event for the scheduler; it is fed when those before it are.
    mutating func feed(_ event: SchedulerEvent) { events.append(event) }

    /// Feeds the scheduler what was entered, and does what it says, until nothing is left.
    mutating func drainEvents() {
        while let event = events.popFirst() {
            emit(.record(event))
            if case .conditionsChanged(let conditions) = event { history.note(conditions, at: now.wall) }
            let actions = scheduler.handle(event, at: now)
            // Everything that is pending is asked about after the start in any case.
            if phase != .starting { vetoes.note(event, actions) }
            for case .wake(let wake) in actions {
                self.wake = wake
                mustArm = true
            }
            // Before the launcher gets the expirations that the change causes: a handler knows why.
            notifyConditions(after: event)
            for action in actions { perform(action) }
            if case .simulate(let id) = event { afterSimulation(of: id) }
        }
    }

    private mutating func publishVetoes() {
        guard isFollowed else { return vetoes.pause() }
        for id in vetoes.takePart(of: requests.pending.keys)
        where requests.starting[id] == nil && !requests.foreseen.contains(id) {
            guard let request = requests.pending[id] else { continue }
            let verdicts = explain(request, at: now).vetoes
            if vetoes.isNews(verdicts.map(\.policy), of: id) {
                emit(.publish(.requestBlocked(request, verdicts)))
            }
        }
    }

    // MARK: Alarms

    /// Asks for the same alarms once more, because something else keeps them now.
    mutating func rearm() { mustArm = true }

    /// Asks for the scheduler's alarm, and for those of the core.
    private mutating func arm() {
        var next = wake
        next.boot = [wake.boot, nextRetry, launches.deadlines.values.min(), bundles.due].compactMap(\.self)
            .min()
        guard mustArm || next != armed else { return }
        armed = next
        emit(.arm(next))
    }

    private mutating func timePassed(_ offset: Duration) {
        // What was asked for is used up.
        mustArm = true
        if let due = nextRetry, due <= now.boot { retryWrites() }
        if let due = bundles.due, due <= now.boot { writeBundles() }
        takeLocalTime(offset)
        endOverdueInClients()
        feed(.timePassed)
    }

    /// Budgets and hours of use are by local time, which a journey or a season may change.
    mutating func takeLocalTime(_ offset: Duration) {
        guard offset != localTimeOffset else { return }
        localTimeOffset = offset
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
        refuseParked()
    }

    /// Refuses what waits for work outside: the host does not wait for that any more.
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
        guard phase == .draining, launches.isEmpty, requests.starting.isEmpty else { return }
        // What is not stored yet is tried once more; what the store can't take then ends with the host.
        phase = .closing
        retryWrites()
        writeBundles()
    }

    private mutating func endIfClosed() {
        guard phase == .closing, desk.isEmpty else { return }
        phase = .ended
        for client in clients.ids { emit(.closeClient(client)) }
        emit(.drained)
    }
}

extension Int {
    /// `1 launch`, `2 launches`.
    func counted(_ singular: String, _ plural: String) -> String {
        "\(self) \(self == 1 ? singular : plural)"
    }
}
