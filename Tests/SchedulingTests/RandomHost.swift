import TaskHostTestSupport
import TaskModel

@testable import Scheduling

/// One event in the form that a log stores, with the scheduler's answer.
struct LoggedEvent: Codable {
    var at: Moment
    var event: SchedulerEvent
    var actions: [SchedulerAction]
}

/// A host that sends random events, and checks the scheduler's answers with its own bookkeeping.
final class RandomHost {
    private struct Running {
        var request: TaskRequest
        var readyAt: Duration?
        var isExpiring = false
    }

    var numbers: SeededNumbers
    let moments = VirtualMoments()
    var scheduler = Scheduler()
    /// The broken rules, in words.
    var faults: [String] = []
    /// Whether every decision is compared with a ``PlainDecision``, which is made without an index.
    var comparesPlainly = false
    private(set) var launchCount = 0
    private var isPreparingForSleep = false
    /// Since when CPU or disks have been under pressure; it moves with the wall clock.
    private(set) var pressureSince: WallTime?
    private(set) var conditions = Conditions.simulatedStart
    private(set) var pending: [RequestID: TaskRequest] = [:]
    /// Requests whose newest launch started without the policies.
    private var simulated: Set<RequestID> = []
    private var starting: [RequestID: TaskRequest] = [:]
    private var running: [LaunchID: Running] = [:]
    private var wake = Wake()
    private var nextID: Int64 = 0
    /// The times at which launches began that a rate counts, by identifier and by bundle and kind.
    ///
    /// A change of the wall clock empties this list.
    private(set) var begins: [String: [WallTime]] = [:]
    /// The limit of launches within an hour is so low that random histories reach it.
    let settings = {
        var settings = SchedulerSettings()
        settings.launchesPerHour = 12
        settings.pressureLimit = .seconds(120)
        return settings
    }()
    /// Every sent event, with its time and the scheduler's answer.
    private(set) var log: [LoggedEvent] = []
    private var manifests: [Manifest] = [
        manifest("com.example.a").scheduling("p1", every: .seconds(900), tolerance: .seconds(60)),
        manifest("com.example.b").scheduling("p1", every: .seconds(7200), tolerance: .seconds(3600)),
        manifest("com.example.c"),
    ]
    private static let bundles = ["com.example.a", "com.example.b", "com.example.c"].map {
        try! BundleIdentifier($0)
    }

    private static func manifest(_ bundle: String) -> Manifest {
        .make(bundle) {
            $0.appLaunch = .sample("\(bundle).app")
            $0.modes.insert(.remoteNotification)
            for (name, kind) in [
                ("push", TaskKind.push), ("activity", .activity), ("events", .transferEvents),
            ] {
                $0.tasks.append(
                    TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).\(name)"), kind: kind))
            }
        }
    }

    /// - Parameters:
    ///   - seed: The seed of the events.
    ///   - hasConflicts: Whether some tasks conflict, also with those of another bundle.
    init(seed: UInt64, hasConflicts: Bool = false) {
        numbers = SeededNumbers(seed: seed)
        if hasConflicts {
            for (bundle, task, other) in [
                (0, "p1", "com.example.b.p1"), (1, "p2", "com.example.b.p1"),
                (2, "p3", "com.example.c.refresh"),
            ] {
                for index in manifests[bundle].tasks.indices
                where manifests[bundle].tasks[index].pattern.base.rawValue.hasSuffix(".\(task)") {
                    manifests[bundle].tasks[index].constraints = TaskConstraints(
                        conflicts: [try! IdentifierPattern(other)])
                }
            }
        }
        send(.settingsChanged(settings))
        send(.handlersChanged(manifests))
        send(.conditionsChanged(conditions))
        // One of the bundles has habits, so that its requests choose the moment of their launch.
        var state = BundleState()
        let today = moments.now().wall.wholeSeconds / 86_400
        state.usage.firstDay = today - 20
        state.usage.quartersSince = today - 20
        state.usage.hours = (0..<168).map { _ in Int.random(in: 0...3, using: &numbers) }
        state.usage.quarters = (0..<192).map { _ in Int.random(in: 0...10, using: &numbers) }
        send(.bundleRestored(Self.bundles[1], state))
        send(.started)
    }

    /// Removes every obstacle, then checks that every pending request starts.
    func drain() {
        conditions = .simulatedStart
        conditions.gpu = .known(true)
        send(.handlersChanged(manifests))
        send(.conditionsChanged(conditions))
        isPreparingForSleep = false
        send(.preparingForSleep(false))
        for bundle in Self.bundles {
            send(.used(bundle))
            send(.refreshSwitched(bundle, .available))
            send(.budgetChanged(bundle, launches: nil, cpu: nil))
        }
        for _ in 0..<400 {
            for request in starting.values.sorted(by: { $0.id < $1.id }) { record(request) }
            for id in running.keys.sorted() { finish(id, LaunchEnding(outcome: .succeeded), putBack: false) }
            moments.advance(by: .seconds(3600))
            send(.timePassed)
        }
        let left = pending.values.filter { $0.submission.origin != .schedule }
        if !left.isEmpty { faults.append("starved: \(left.map(\.identifier.rawValue))") }
    }

    func step() {
        if isPreparingForSleep, Int.random(in: 0..<4, using: &numbers) == 0 {
            isPreparingForSleep = false
            send(.preparingForSleep(false))
        }
        switch Int.random(in: 0..<28, using: &numbers) {
        case 0...5: submit()
        case 6...8: if let request = pick(starting) { record(request) }
        case 27: send(.outlookChanged(randomOutlook()))
        case 26:
            isPreparingForSleep.toggle()
            send(.preparingForSleep(isPreparingForSleep))
        case 9...10:
            if let id = pick(running)?.0 { finish(id, randomEnding(), putBack: Bool.random(using: &numbers)) }
        case 11: if let id = pick(running)?.0 { ready(id) }
        case 12: changeConditions()
        case 13: if let id = pick(running)?.0 { send(.launchActive(id)) }
        case 14: if let id = pick(running)?.0 { send(.expireRequested(id, .simulated)) }
        case 15:
            if let request = pick(pending) {
                pending[request.id] = nil
                send(.withdrawn(request.id))
            }
        case 16: if let request = pick(pending) { send(.simulate(request.id)) }
        case 17:
            send(.handlersChanged(Bool.random(using: &numbers) ? manifests : Array(manifests.dropFirst())))
        case 18:
            let jump = Duration.seconds(Int.random(in: -9000...9000, using: &numbers))
            moments.jumpWallClock(by: jump)
            // The scheduler takes a change of up to 1 s for a correction, and ignores it.
            if jump > .seconds(1) || jump < .seconds(-1) {
                pressureSince = pressureSince.map { $0 + jump }
            }
            begins = [:]
            send(.timePassed)
        case 19...20: happenToBundle()
        case 21:
            if let id = pick(running)?.0 {
                let done = Int64.random(in: 0..<50, using: &numbers)
                send(.progressed(id, TaskProgress(completed: done, total: 50)))
            }
        case 22:
            if let request = pick(starting) {
                starting[request.id] = nil
                if !simulated.contains(request.id) {
                    for key in Self.rateKeys(request) { _ = begins[key]?.popLast() }
                }
                var request = request
                let retry = moments.now().wall + .seconds(Int.random(in: 1...60, using: &numbers))
                request.notBefore = request.notBefore.map { max($0, retry) } ?? retry
                if !pending.values.contains(where: { $0.identifier == request.identifier }) {
                    pending[request.id] = request
                }
                send(.launchNotStarted(request.id, retry: retry))
            }
        default: sleepUntilWakeOrNot()
        }
    }

    /// What a short history of random conditions expects; sometimes nothing.
    private func randomOutlook() -> ConditionOutlook? {
        let now = moments.now().wall
        var history = ConditionHistory()
        let days = Int.random(in: 2...5, using: &numbers)
        for step in stride(from: days * 48, to: 0, by: -1) where Bool.random(using: &numbers) {
            var past = Conditions.simulatedStart
            past.power =
                Bool.random(using: &numbers)
                ? .known(.mains)
                : .known(
                    PowerCondition(
                        externalPower: false, isCharging: false,
                        batteryPercent: Int.random(in: 5...100, using: &numbers)))
            past.user = .known(Bool.random(using: &numbers) ? .idle : .active)
            past.network = .known(Bool.random(using: &numbers) ? .unmetered : .metered)
            let isAsleep = Int.random(in: 0..<6, using: &numbers) == 0
            history.note(isAsleep ? nil : past, at: now + .seconds(-1800 * step))
        }
        return ConditionOutlook(history, at: now, localTimeOffset: .zero)
    }

    private func randomEnding() -> LaunchEnding {
        LaunchEnding(
            outcome: Outcome.allCases.randomElement(using: &numbers),
            cpuTime: .seconds(Int.random(in: 0..<400, using: &numbers)),
            leakedAssertions: Int.random(in: 0..<2, using: &numbers))
    }

    private func happenToBundle() {
        let bundle = Self.bundles.randomElement(using: &numbers) ?? Self.bundles[0]
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0...1: send(.used(bundle))
        case 2: send(.dismissed(bundle))
        case 3:
            send(
                .refreshSwitched(
                    bundle, RefreshPermission.allCases.randomElement(using: &numbers) ?? .available))
        case 4...5: send(.refreshSwitched(bundle, .available))
        case 6:
            let launches = Bool.random(using: &numbers) ? Int.random(in: 0..<5, using: &numbers) : nil
            send(.budgetChanged(bundle, launches: launches, cpu: launches.map { .seconds(100 * $0) }))
        default: send(.foregroundChanged(bundle, Bool.random(using: &numbers)))
        }
    }

    /// The keys under which a request's launches are counted.
    static func rateKeys(_ request: TaskRequest) -> [String] {
        guard request.kind.isDiscretionary else { return [] }
        return ["\(request.identifier)", "\(request.bundle) \(request.kind)"]
    }

    private func pick(_ table: [RequestID: TaskRequest]) -> TaskRequest? {
        table.values.sorted { $0.id < $1.id }.randomElement(using: &numbers)
    }

    private func pick(_ table: [LaunchID: Running]) -> (LaunchID, Running)? {
        table.sorted { $0.key < $1.key }.randomElement(using: &numbers).map { ($0.key, $0.value) }
    }

    private func sleepUntilWakeOrNot() {
        var step = Duration.milliseconds(Int.random(in: 0...200_000, using: &numbers))
        if Bool.random(using: &numbers), let boot = wake.boot { step = max(.zero, boot - moments.now().boot) }
        if let wall = wake.wall { step = min(step, max(.zero, wall - moments.now().wall)) }
        if let boot = wake.boot { step = min(step, max(.zero, boot - moments.now().boot)) }
        moments.advance(by: step)
        send(.timePassed)
    }

    private func changeConditions() {
        let power: [Reading<PowerCondition>] = [
            .known(.mains), .unknown,
            .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 40)),
            .known(
                PowerCondition(
                    externalPower: false, isCharging: false,
                    batteryPercent: Int.random(in: 5...30, using: &numbers))),
        ]
        let network: [Reading<NetworkCondition>] = [
            .known(.none), .known(.constrained), .known(.metered), .known(.unmetered), .unknown,
        ]
        conditions.power = power.randomElement(using: &numbers) ?? .unknown
        conditions.network = network.randomElement(using: &numbers) ?? .unknown
        // Conditions are good in most cases, so that launches start at all.
        func rarely<Value>(_ usual: Value, _ others: [Reading<Value>]) -> Reading<Value> {
            Int.random(in: 0..<3, using: &numbers) > 0
                ? .known(usual) : others.randomElement(using: &numbers) ?? .unknown
        }
        conditions.thermal = rarely(.nominal, [.known(.fair), .known(.serious), .known(.critical), .unknown])
        conditions.user = rarely(.idle, [.known(.active), .unknown])
        conditions.lowPowerMode = rarely(false, [.known(true), .unknown])
        conditions.pressure = rarely(
            .none,
            [
                .known(.init(cpu: true, memory: false, io: false)),
                .known(.init(cpu: false, memory: true, io: false)), .unknown,
            ])
        let isUnderPressure = conditions.pressure.value.map { $0.cpu || $0.io } ?? false
        pressureSince = isUnderPressure ? pressureSince ?? moments.now().wall : nil
        conditions.gpu = rarely(true, [.known(false), .unknown])
        send(.conditionsChanged(conditions))
    }

    private func submit() {
        let bundle = ["com.example.a", "com.example.b", "com.example.c"].randomElement(using: &numbers) ?? ""
        let names = [
            "p1", "p2", "p3", "refresh", "powered", "networked", "export.x", "export.y", "push", "activity",
            "events", "app",
        ]
        var submission = TaskSubmission(
            identifier: .sample("\(bundle).\(names.randomElement(using: &numbers) ?? "")"), origin: .client)
        submission.pushPriority = Bool.random(using: &numbers) ? .immediate : .considerate
        submission.requiresGPU = Int.random(in: 0..<9, using: &numbers) == 0
        if Int.random(in: 0..<6, using: &numbers) == 0 {
            submission.network = NetworkRequirement.allCases.randomElement(using: &numbers)
        }
        submission.requiresExternalPower = Int.random(in: 0..<4, using: &numbers) == 0
        if Bool.random(using: &numbers) {
            submission.earliestBeginDate =
                moments.now().wall + .seconds(Int.random(in: -100...600, using: &numbers))
        }
        guard let admission = try? scheduler.admit(submission, at: moments.now()) else { return }
        store(submission, admission.bundle, admission.kind, deadline: admission.deadline)
    }

    private func store(
        _ submission: TaskSubmission, _ bundle: BundleIdentifier, _ kind: TaskKind, deadline: WallTime
    ) {
        for (id, old) in pending where old.identifier == submission.identifier { pending[id] = nil }
        nextID += 1
        let request = TaskRequest(
            id: RequestID(rawValue: nextID), submission: submission, bundle: bundle, kind: kind,
            submittedAt: moments.now().wall, attempt: 1, notBefore: nil, deadline: deadline)
        pending[request.id] = request
        send(.submitted(request))
    }

    private func record(_ request: TaskRequest) {
        starting[request.id] = nil
        nextID += 1
        let id = LaunchID(rawValue: nextID)
        running[id] = Running(request: request)
        send(.launchStarted(id, request.id))
        if Bool.random(using: &numbers) { ready(id) }
    }

    private func ready(_ id: LaunchID) {
        guard running[id]?.readyAt == nil else { return }
        running[id]?.readyAt = moments.now().boot
        send(.launchReady(id))
    }

    private func finish(_ id: LaunchID, _ ending: LaunchEnding, putBack: Bool) {
        guard var request = running.removeValue(forKey: id)?.request else { return }
        let hasNewer = pending.values.contains { $0.identifier == request.identifier }
        let hasBackOff = Bool.random(using: &numbers)
        let now = moments.now().wall
        request.putBack(PutBack(notBefore: hasBackOff ? now + .seconds(5) : nil), at: now)
        if putBack && !hasNewer { pending[request.id] = request }
        send(.launchEnded(id, putBack: putBack && !hasNewer ? request : nil, ending: ending))
    }

    private func send(_ event: SchedulerEvent) {
        let now = moments.now()
        let plain = comparesPlainly ? plainDecision(event, now) : nil
        var thorough = scheduler
        let actions = scheduler.handle(event, at: now)
        if let plain { compare(actions, plain, event) }
        if comparesPlainly {
            // This copy of the scheduler asks all policies about every request, whatever the event is.
            thorough.agenda.checkAll()
            let all = thorough.handle(event, at: now)
            if all != actions {
                faults.append("\(event) leads to \(actions), and with all looked at to \(all)")
            }
        }
        if comparesPlainly { checkReaches() }
        log.append(LoggedEvent(at: now, event: event, actions: actions))
        for action in actions { check(action, now) }
        if let wall = wake.wall, wall <= now.wall { faults.append("a wake in the past: \(wall.text)") }
        if let boot = wake.boot, boot <= now.boot { faults.append("a wake in the past: \(boot)") }
        for bundle in Self.bundles {
            let budget = scheduler.bundleState(bundle).budget
            if budget.launches < 0 || budget.cpu < .zero { faults.append("a budget is negative") }
        }
        for id in pending.keys {
            let verdicts = scheduler.explain(id, at: now)
            if let verdicts, verdicts.mayStart {
                faults.append("\(id) waits without a veto")
            }
            if verdicts == nil { faults.append("\(id) was forgotten") }
        }
        for (id, launch) in running where !launch.isExpiring && launch.request.kind == .appRefresh {
            if let ready = launch.readyAt, now.boot >= ready + .seconds(30) {
                faults.append("\(id) overran its lease")
            }
        }
        for action in actions {
            if case .submitScheduled(let identifier, let bundle, let earliest, let deadline) = action {
                var submission = TaskSubmission(identifier: identifier, origin: .schedule)
                submission.earliestBeginDate = earliest
                store(submission, bundle, .processing, deadline: deadline)
            }
        }
    }

    private func check(_ action: SchedulerAction, _ now: Moment) {
        switch action {
        case .launch(let id, let isSimulated, _, let explanation):
            launchCount += 1
            guard let request = pending.removeValue(forKey: id) else {
                return faults.append("\(id) was not pending")
            }
            let others = running.values.map(\.request) + starting.values
            if others.contains(where: { $0.identifier == request.identifier }) {
                faults.append("two launches of \(request.identifier)")
            }
            if isPreparingForSleep { faults.append("\(id) was launched before a sleep") }
            if !explanation.mayStart { faults.append("\(id) was launched against a veto") }
            if isSimulated {
                simulated.insert(id)
            } else {
                checkPolicies(request, others, now)
                for key in Self.rateKeys(request) { begins[key, default: []].append(now.wall) }
            }
            starting[id] = request
        case .expire(let id, let reason, _):
            guard let launch = running[id], !launch.isExpiring else {
                return faults.append("\(id) was told twice")
            }
            running[id]?.isExpiring = true
            if reason == .leaseEnded {
                let lease = Lease.standard(for: launch.request.kind).duration ?? .zero
                if now.boot < (launch.readyAt ?? now.boot) + lease { faults.append("\(id) expired early") }
            }
        case .cancelRequest(let id, let reason):
            if reason == .cancelledByUser, pending[id]?.kind != .continuedProcessing {
                faults.append("\(id) was cancelled by nobody")
            }
            pending[id] = nil
        case .wake(let instants): wake = instants
        case .setCPULimitRelaxed(_, true):
            if conditions.power.value?.externalPower != true { faults.append("relaxed without power") }
        case .setCPULimitRelaxed, .submitScheduled, .findDate, .setPriority, .setShouldDefer, .ask,
            .saveBundleState,
            .measureCPU:
            break
        }
    }
}
