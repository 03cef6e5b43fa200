import TaskModel

/// The schedules of the manifests, and when each identifier last began.
///
/// A schedule keeps one request pending per identifier. The next date lies after the last launch, whatever
/// made that: one period later, or the calendar's next, which the host works out and sends. A date that is
/// past is now: missed periods come once. Nothing but the last launch decides, so a restart of the host
/// neither doubles nor loses one. An event makes the request due at once; it is forgotten when a launch
/// begins that came after it.
struct ScheduleBook: Sendable {
    typealias Plan = (bundle: BundleIdentifier, schedule: Schedule)

    private var plans: [TaskIdentifier: Plan] = [:]
    private var lastBegin: [TaskIdentifier: WallTime] = [:]
    private var asked: Set<TaskIdentifier> = []
    private var retries: [TaskIdentifier: WallTime] = [:]
    /// Identifiers that may have to be asked for since the last look.
    private var touched: Set<TaskIdentifier> = []
    /// Those whose event came, and no launch after it.
    private var triggered: Set<TaskIdentifier> = []
    private var calendar = CalendarQuestions()
    private var edges = ConditionEdges()
    /// Those whose dates wake the machine, in order.
    private var wakers: [TaskIdentifier] = []

    mutating func replacePlans(_ plans: [TaskIdentifier: Plan]) {
        for (identifier, plan) in plans where self.plans[identifier]?.schedule.timing != plan.schedule.timing
        {
            calendar.doubt(identifier)
        }
        self.plans = plans
        triggered = triggered.filter { plans[$0]?.schedule.hasEvents == true }
        wakers = plans.filter(\.value.schedule.wakesMachine).keys.sorted()
        touched.formUnion(plans.keys)
    }

    mutating func touch(_ identifier: TaskIdentifier) {
        if plans[identifier] != nil { touched.insert(identifier) }
    }

    /// The wall clock was set: every date may lie elsewhere now.
    mutating func touchAll() {
        for identifier in plans.keys { calendar.doubt(identifier) }
        touched.formUnion(plans.keys)
    }

    /// When each identifier last began, by identifier.
    var lastBegins: [(key: TaskIdentifier, value: WallTime)] { lastBegin.sorted { $0.key < $1.key } }

    /// Those whose event came, and no launch after it.
    var triggeredIdentifiers: [TaskIdentifier] { triggered.sorted() }

    /// Whether nothing is awaited, and what is remembered of power and networks is what they are now.
    func isSettled(under conditions: Conditions) -> Bool {
        asked.isEmpty && retries.isEmpty && touched.isEmpty && calendar.isSettled
            && edges.agree(with: conditions)
    }

    func hasPlan(_ identifier: TaskIdentifier) -> Bool { plans[identifier] != nil }

    /// A launch of it began.
    mutating func began(_ identifier: TaskIdentifier, at time: WallTime) {
        lastBegin[identifier] = time
        triggered.remove(identifier)
        calendar.forget(identifier)
    }

    /// Its request was cancelled: the request's date counts as used.
    mutating func skipped(_ identifier: TaskIdentifier, date: WallTime?, at now: WallTime) {
        began(identifier, at: now)
        if let date, date > now { calendar.skip(identifier, date) }
    }

    /// As ``began(_:at:)``, from the store; the newest counts.
    mutating func learned(_ identifier: TaskIdentifier, lastBegin time: WallTime) {
        if let known = lastBegin[identifier], known > time { return }
        lastBegin[identifier] = time
        touch(identifier)
    }

    /// What was asked for is there, or something else of the identifier.
    mutating func answered(_ identifier: TaskIdentifier) {
        asked.remove(identifier)
        retries[identifier] = nil
    }

    mutating func refused(_ identifier: TaskIdentifier, retryAt: WallTime) {
        guard asked.remove(identifier) != nil else { return }
        retries[identifier] = retryAt
        calendar.doubt(identifier)
    }

    /// One of its events came.
    mutating func trigger(_ identifier: TaskIdentifier) {
        guard plans[identifier] != nil else { return }
        triggered.insert(identifier)
        touched.insert(identifier)
    }

    /// The machine's conditions changed: power or a network may have come.
    mutating func observe(_ conditions: Conditions) {
        let came = edges.observe(conditions)
        guard came.power || came.network else { return }
        for (identifier, plan) in plans
        where (came.power && plan.schedule.onPower) || (came.network && plan.schedule.onNetwork) {
            trigger(identifier)
        }
    }

    /// The calendar's answer to a ``SchedulerAction/findDate(_:expression:timeZone:after:)``.
    mutating func dated(_ identifier: TaskIdentifier, after: WallTime, next: WallTime?) {
        if calendar.answer(identifier, after: after, next: next) { touch(identifier) }
    }

    /// When a refused request is asked for again.
    var nextRetry: WallTime? { retries.values.min() }

    /// The first date that wakes the machine.
    func nextMachineWake(at now: WallTime, pending: (TaskIdentifier) -> TaskRequest?) -> WallTime? {
        wakers.compactMap { identifier in
            guard let request = pending(identifier), request.submission.origin == .schedule,
                let date = request.submission.earliestBeginDate, date > now
            else { return nil }
            return date
        }.min()
    }

    /// The identifiers to look at now, in order.
    mutating func takeTouched(at now: WallTime) -> [TaskIdentifier] {
        for (identifier, time) in retries where time <= now {
            retries[identifier] = nil
            touched.insert(identifier)
        }
        defer { touched = [] }
        return touched.sorted()
    }

    /// Asks for the identifier's next request, or for its date.
    ///
    /// `pending` and `isUnderWay` say what there is of it already.
    mutating func ask(
        _ identifier: TaskIdentifier, pending: TaskRequest?, isUnderWay: Bool, at now: WallTime
    ) -> SchedulerAction? {
        guard let plan = plans[identifier], !isUnderWay else { return nil }
        guard !asked.contains(identifier), retries[identifier] == nil else { return nil }
        let scheduled = pending?.submission.origin == .schedule ? pending?.submission.earliestBeginDate : nil
        // A request of another origin is left alone, and so is one that is due or was put back.
        if pending != nil, scheduled.map({ $0 <= now }) ?? true { return nil }
        if triggered.contains(identifier) { return submission(of: identifier, plan, at: now) }
        switch plan.schedule.timing {
        case nil: return nil
        case .every(let period):
            // Only one that lies further off than a period can is wrong: the period was shortened or the
            // clock set back.
            if let scheduled, scheduled <= now + period { return nil }
            let next = lastBegin[identifier].map { min($0, now) + period } ?? now
            return submission(of: identifier, plan, at: max(now, next))
        case .calendar(let expression, let zone):
            let base = lastBegin[identifier].map { min($0, now) } ?? now
            switch calendar.next(identifier, after: base, scheduled: scheduled) {
            case .nothing: return nil
            case .ask(let after):
                return .findDate(identifier, expression: expression, timeZone: zone, after: after)
            case .date(let date): return submission(of: identifier, plan, at: max(now, date))
            }
        }
    }

    private mutating func submission(
        of identifier: TaskIdentifier, _ plan: Plan, at date: WallTime
    ) -> SchedulerAction {
        asked.insert(identifier)
        return .submitScheduled(
            identifier, plan.bundle, earliest: date, deadline: date + plan.schedule.tolerance)
    }
}
