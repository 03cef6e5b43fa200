public import Recording
public import Scheduling
public import TaskModel

/// A host in memory, on a virtual clock: the same scheduler as the real one, in a world of values.
///
/// It does what `TaskHost` does with the scheduler's actions, without processes, files or waiting. The same
/// occurrences, plans and dates give the same launches.
public struct VirtualHost {
    /// Finds the first date of a calendar expression after a time, in a zone or the machine's.
    public typealias DateFinder = @Sendable (_ expression: String, _ zone: String?, WallTime) -> WallTime?

    /// The scheduler that decides.
    public private(set) var scheduler: Scheduler
    /// The virtual clocks.
    public private(set) var now: Moment
    /// What happened so far.
    public private(set) var tally: Tally
    var agenda = Agenda()
    var pending: [RequestID: TaskRequest] = [:]
    var running: [LaunchID: VirtualLaunch] = [:]
    /// What each request's first attempt planned, and how much of it is done.
    var jobs: [RequestID: Job] = [:]
    var ordinals: [TaskIdentifier: Int] = [:]
    /// The newest launches that it was told of, from before its own.
    private var begins: [TaskIdentifier: WallTime] = [:]
    let model: any LaunchModel
    /// Called with every line that a real host would record.
    public var record: ((RecordedEntry) -> Void)?
    private let findDate: DateFinder
    private var wake = Wake()
    private var isStarted = false
    private var isGoingToSleep = false
    private var lastRequest: Int64 = 0
    private var lastLaunch: Int64 = 0

    /// A request's plan across its attempts.
    struct Job: Sendable {
        var plan: LaunchPlan
        var done = Duration.zero
    }

    /// How long a machine that a schedule woke stays awake: 10 min, one lease of a processing task.
    static let awakeTime = Duration.seconds(600)
    /// How long the machine waits for what may be put off before it sleeps: 5 s, as logind's delay.
    static let sleepDelay = Duration.seconds(5)

    /// Makes a host that knows nothing; tell it settings, manifests and conditions, and ``start()`` it.
    ///
    /// - Parameters:
    ///   - now: Where its clocks begin.
    ///   - model: What its launches do.
    ///   - detail: How closely waits are looked at.
    ///   - findDate: The calendar.
    public init(
        at now: Moment, model: any LaunchModel, detail: Tally.Detail = .waits,
        findDate: @escaping DateFinder = { _, _, _ in nil }
    ) {
        self.now = now
        self.model = model
        self.findDate = findDate
        scheduler = Scheduler()
        tally = Tally(detail: detail)
    }

    /// Restarts like a host that was gone until now: what ran is lost, and a new scheduler gets what was
    /// stored.
    ///
    /// Tell it settings, manifests and conditions again, and ``start()`` it.
    public mutating func restart(at moment: Moment) {
        tally.noteRestart(at: now.wall)
        let (states, settings) = (scheduler.bundleStates, scheduler.settings)
        begins.merge(tally.newestStarts, uniquingKeysWith: max)
        now = moment
        agenda = Agenda()
        wake = Wake()
        (isStarted, isGoingToSleep) = (false, false)
        scheduler = Scheduler()
        for (bundle, state) in states.sorted(by: { $0.key < $1.key }) { tell(.bundleRestored(bundle, state)) }
        for (identifier, start) in begins.sorted(by: { $0.key < $1.key }) {
            tell(.lastLaunched(identifier, start))
        }
        for launch in running.values.sorted(by: { $0.request.id < $1.request.id }) {
            let isPending = pending.values.contains { $0.identifier == launch.request.identifier }
            guard !isPending, launch.declaration?.isAtMostOnce != true else { continue }
            var request = launch.request
            request.notBefore = moment.wall + settings.backOff(afterAttempt: request.attempt)
            request.attempt += 1
            pending[request.id] = request
        }
        running = [:]
        for request in pending.values.sorted(by: { $0.id < $1.id }) { tell(.submitted(request)) }
    }

    /// Enters something that is to happen at an instant of CLOCK_BOOTTIME; what is past happens next.
    public mutating func add(_ occurrence: Occurrence, at boot: Duration) { agenda.add(occurrence, at: boot) }

    /// Tells the scheduler something now; before ``start()`` it only remembers.
    public mutating func tell(_ event: SchedulerEvent) {
        if case .submitted(let request) = event {
            pending = pending.filter { $0.value.identifier != request.identifier }
            pending[request.id] = request
            lastRequest = max(lastRequest, request.id.rawValue)
        }
        if case .lastLaunched(let identifier, let time) = event { begins[identifier] = time }
        record?(RecordedEntry(at: now, .event(event)))
        let actions = scheduler.handle(event, at: now)
        tally.note(event, actions, at: now, scheduler)
        for case .wake(let wake) in actions { self.wake = wake }
        for action in actions { perform(action) }
    }

    /// Lets decisions begin.
    public mutating func start() {
        isStarted = true
        tell(.started)
    }

    /// Runs until that instant of CLOCK_BOOTTIME, that instant included.
    public mutating func run(until end: Duration) {
        while true {
            let alarm = isStarted ? alarm : nil
            guard let next = [agenda.next, alarm].compactMap(\.self).min(), next <= end else { break }
            advance(to: next)
            // An alarm that is due at the same time comes first, as the decisions before what is decided
            // about.
            if let alarm, alarm <= now.boot {
                tell(.timePassed)
            } else if let occurrence = agenda.removeFirst() {
                happen(occurrence)
            }
        }
        advance(to: end)
        tally.settle(at: now)
    }

    /// When the scheduler wants to look again, on CLOCK_BOOTTIME.
    private var alarm: Duration? {
        let wall = wake.wall.map { now.boot + max(.zero, $0 - now.wall) }
        return [wake.boot, wall].compactMap(\.self).min()
    }

    private mutating func advance(to boot: Duration) {
        if boot > now.boot { now = now.advanced(by: boot - now.boot) }
    }

    private mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .event(let event): tell(event)
        case .submit(let submission): submit(submission)
        case .withdraw(let identifier):
            for request in pending.values.filter({ $0.identifier == identifier }) {
                pending[request.id] = nil
                tell(.withdrawn(request.id))
            }
        case .simulate(let identifier):
            if let request = scheduler.pendingRequest(of: identifier) { tell(.simulate(request.id)) }
        case .stop(let identifier, let reason):
            for id in launches(where: { $0.request.identifier == identifier }) {
                tell(.expireRequested(id, reason))
            }
        case .sleep(let end):
            isGoingToSleep = true
            record?(RecordedEntry(at: now, .willSleep))
            for id in launches(where: { $0.request.isDiscretionary }) {
                tell(.expireRequested(id, .systemSleep))
            }
            agenda.add(.fallAsleep(until: end), at: min(end, now.boot + Self.sleepDelay))
        case .fallAsleep(let end): sleep(until: end)
        case .clocks(let moment):
            now = Moment(boot: max(now.boot, moment.boot), monotonic: moment.monotonic, wall: moment.wall)
        case .process(let id, let step): take(step, of: id)
        }
    }

    private mutating func sleep(until end: Duration) {
        let machine = wake.machine.map { now.boot + max(.zero, $0 - now.wall) }
        let wakes = min(end, machine ?? end)
        let gap = max(.zero, wakes - now.boot)
        now = Moment(boot: now.boot + gap, monotonic: now.monotonic, wall: now.wall + gap)
        agenda.delayProcesses(by: gap)
        isGoingToSleep = false
        record?(RecordedEntry(at: now, .hasWoken))
        tally.noteSleep(from: now.wall + (.zero - gap), until: now.wall)
        if wakes < end { agenda.add(.sleep(until: end), at: min(end, wakes + Self.awakeTime)) }
        tell(.timePassed)
    }

    /// Accepts a submission by the scheduler's own admission; what is refused is counted.
    mutating func submit(_ submission: TaskSubmission) {
        do {
            let admission = try scheduler.admit(submission, at: now)
            accept(submission, bundle: admission.bundle, kind: admission.kind, deadline: admission.deadline)
        } catch {
            tally.noteRefusal(of: submission.identifier)
        }
    }

    private mutating func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, deadline: WallTime
    ) {
        lastRequest += 1
        tell(
            .submitted(
                TaskRequest(
                    id: RequestID(rawValue: lastRequest), submission: submission, bundle: bundle, kind: kind,
                    submittedAt: now.wall, attempt: 1, notBefore: nil, deadline: deadline)))
    }

    private mutating func perform(_ action: SchedulerAction) {
        switch action {
        case .launch(let id, _, _, _): launch(id)
        case .expire(let id, let reason, _): expire(id, reason)
        case .setCPULimitRelaxed(let id, let isRelaxed): setCPULimit(id, isRelaxed: isRelaxed)
        case .measureCPU(let id):
            if let used = running[id]?.cpuTime(at: now) { tell(.cpuMeasured(id, used)) }
        case .submitScheduled(let identifier, let bundle, let earliest, let deadline):
            var submission = TaskSubmission(identifier: identifier, origin: .schedule)
            submission.earliestBeginDate = earliest
            if let kind = scheduler.kind(of: identifier, in: bundle) {
                accept(submission, bundle: bundle, kind: kind, deadline: deadline)
            }
        case .findDate(let identifier, let expression, let zone, let after):
            tell(.scheduleDated(identifier, after: after, next: findDate(expression, zone, after)))
        case .cancelRequest(let id, _): pending[id] = nil
        case .setPriority, .setShouldDefer, .ask, .saveBundleState, .wake: break
        }
    }

    private mutating func launch(_ id: RequestID) {
        guard !isGoingToSleep, let request = pending.removeValue(forKey: id) else {
            return tell(.launchNotStarted(id, retry: now.wall + .seconds(10)))
        }
        lastLaunch += 1
        let launch = LaunchID(rawValue: lastLaunch)
        begin(request, as: launch)
        tell(.launchStarted(launch, id))
    }

    /// The launches that please, oldest first.
    private func launches(where pleases: (VirtualLaunch) -> Bool) -> [LaunchID] {
        running.filter { pleases($0.value) }.keys.sorted()
    }
}
