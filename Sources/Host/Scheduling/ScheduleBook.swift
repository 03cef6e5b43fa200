import TaskModel

/// The schedules in the manifests, and the date of each identifier's last launch.
///
/// For each schedule, one request is pending at a time. Its date is one period after the date of the last
/// launch, or the calendar's next date after it. The date of a launch is that of its request if the schedule
/// made the request and the launch began at most 62 % of a period late; otherwise it is when the launch
/// began. If the date is in the past, the request is due now, so any number of missed periods give one
/// launch.
///
/// Only the last launch and the dates that a user has cancelled since then determine the date, and the store
/// keeps both. So a restart of the host neither repeats nor omits a launch. An event of the schedule makes
/// the request due immediately, until a launch begins after the event.
struct ScheduleBook: Sendable {
    typealias Plan = (bundle: BundleIdentifier, schedule: Schedule)

    private var plans: [TaskIdentifier: Plan] = [:]
    /// The date of each identifier's last launch, from which the next period counts.
    private var lastBegin: [TaskIdentifier: WallTime] = [:]
    private var asked: Set<TaskIdentifier> = []
    private var retries: [TaskIdentifier: WallTime] = [:]
    /// The identifiers whose requests must be checked at the next pass.
    private var touched: Set<TaskIdentifier> = []
    /// The identifiers whose event has occurred, without a launch after it.
    private var triggered: Set<TaskIdentifier> = []
    private var calendar = CalendarQuestions()
    private var edges = ConditionEdges()
    /// The identifiers whose dates wake the machine, sorted.
    private var wakers: [TaskIdentifier] = []

    mutating func replacePlans(_ plans: [TaskIdentifier: Plan]) {
        for (identifier, plan) in plans
        where self.plans[identifier]?.schedule.timing != plan.schedule.timing
            || self.plans[identifier]?.schedule.offset != plan.schedule.offset
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

    /// Checks all schedules again, because the wall clock was set.
    mutating func touchAll() {
        for identifier in plans.keys { calendar.doubt(identifier) }
        touched.formUnion(plans.keys)
    }

    /// The date of each identifier's last launch, sorted by identifier.
    var lastBegins: [(key: TaskIdentifier, value: WallTime)] { lastBegin.sorted { $0.key < $1.key } }

    /// The identifiers whose event has occurred, and whose request for it has neither been launched nor
    /// cancelled since, sorted.
    var triggeredIdentifiers: [TaskIdentifier] { triggered.sorted() }

    /// The dates after a time that must not be used because their requests were cancelled, with the jitter of
    /// their schedules, sorted by identifier.
    func cancelledDates(after now: WallTime) -> [(identifier: TaskIdentifier, plan: Plan, date: WallTime)] {
        calendar.skippedDates.compactMap { identifier, date in
            guard let plan = plans[identifier], case .calendar = plan.schedule.timing else { return nil }
            let late = date + plan.schedule.offset
            return late > now ? (identifier, plan, late) : nil
        }.sorted { $0.identifier < $1.identifier }
    }

    /// Whether no answer is awaited, and the last known states of power and network equal the conditions.
    func isSettled(under conditions: Conditions) -> Bool {
        asked.isEmpty && retries.isEmpty && touched.isEmpty && calendar.isSettled
            && edges.agree(with: conditions)
    }

    func hasPlan(_ identifier: TaskIdentifier) -> Bool { plans[identifier] != nil }

    /// Records that a launch of an identifier began; `scheduled` is the date of its request if the schedule
    /// made it.
    ///
    /// The next period counts from ``Schedule/base(of:scheduled:)``.
    mutating func began(_ identifier: TaskIdentifier, at time: WallTime, scheduled: WallTime? = nil) {
        triggered.remove(identifier)
        calendar.forget(identifier)
        lastBegin[identifier] = plans[identifier]?.schedule.base(of: time, scheduled: scheduled) ?? time
    }

    /// Records that an identifier's request was cancelled, so that its date is not used again.
    mutating func skipped(_ identifier: TaskIdentifier, date: WallTime?, at now: WallTime) {
        began(identifier, at: now)
        if let date, date > now {
            calendar.skip(identifier, date.earlier(by: plans[identifier]?.schedule.offset))
        }
    }

    /// Records a launch that the store contains, unless a newer one is known.
    mutating func learned(_ identifier: TaskIdentifier, lastBegin time: WallTime) {
        if let known = lastBegin[identifier], known > time { return }
        lastBegin[identifier] = time
        touch(identifier)
    }

    /// Records that a request of the identifier was stored, so that none is awaited any more.
    mutating func answered(_ identifier: TaskIdentifier) {
        asked.remove(identifier)
        retries[identifier] = nil
    }

    mutating func refused(_ identifier: TaskIdentifier, retryAt: WallTime) {
        guard asked.remove(identifier) != nil else { return }
        retries[identifier] = retryAt
        calendar.doubt(identifier)
    }

    /// Records that an event of an identifier's schedule occurred.
    mutating func trigger(_ identifier: TaskIdentifier) {
        guard plans[identifier] != nil else { return }
        triggered.insert(identifier)
        touched.insert(identifier)
    }

    /// Triggers the schedules whose event is that power or a network became available.
    mutating func observe(_ conditions: Conditions) {
        let came = edges.observe(conditions)
        guard came.power || came.network else { return }
        for (identifier, plan) in plans
        where (came.power && plan.schedule.onPower) || (came.network && plan.schedule.onNetwork) {
            trigger(identifier)
        }
    }

    /// Records the answer to a ``SchedulerAction/findDate(_:expression:timeZone:after:)``.
    mutating func dated(_ identifier: TaskIdentifier, after: WallTime, next: WallTime?) {
        if calendar.answer(identifier, after: after, next: next) { touch(identifier) }
    }

    /// When a refused request must be submitted again; `nil` if there is none.
    var nextRetry: WallTime? { retries.values.min() }

    /// The earliest date at which a schedule wakes the machine; `nil` if there is none.
    func nextMachineWake(at now: WallTime, pending: (TaskIdentifier) -> TaskRequest?) -> WallTime? {
        wakers.compactMap { identifier in
            guard let request = pending(identifier), request.submission.origin == .schedule,
                let date = request.submission.earliestBeginDate, date > now
            else { return nil }
            return date
        }.min()
    }

    /// The identifiers whose requests must be checked now, sorted.
    mutating func takeTouched(at now: WallTime) -> [TaskIdentifier] {
        for (identifier, time) in retries where time <= now {
            retries[identifier] = nil
            touched.insert(identifier)
        }
        defer { touched = [] }
        return touched.sorted()
    }

    /// The action that an identifier needs: to submit its next request, or to find its date; `nil` for none.
    ///
    /// `pending` is the identifier's pending request. `isUnderWay` is whether the identifier has a launch.
    mutating func ask(
        _ identifier: TaskIdentifier, pending: TaskRequest?, isUnderWay: Bool, at now: WallTime
    ) -> SchedulerAction? {
        guard let plan = plans[identifier], !isUnderWay else { return nil }
        guard !asked.contains(identifier), retries[identifier] == nil else { return nil }
        let scheduled = pending?.submission.origin == .schedule ? pending?.submission.earliestBeginDate : nil
        // A request of another origin stays, and so does one that is due or was put back.
        if pending != nil, scheduled.map({ $0 <= now }) ?? true { return nil }
        if triggered.contains(identifier) { return submission(of: identifier, plan, at: now) }
        switch plan.schedule.timing {
        case nil: return nil
        case .every(let period):
            // A date further away than a period is wrong: the period was shortened, or the clock was set
            // back.
            if let scheduled, scheduled <= now + period { return nil }
            // Later dates follow from the first launch, so the jitter only delays that.
            let next = lastBegin[identifier].map { min($0, now) + period } ?? now + plan.schedule.offset
            return submission(of: identifier, plan, at: max(now, next))
        case .calendar(let expression, let zone):
            // The calendar knows nothing of the jitter: its dates are those of the whole fleet.
            let offset = plan.schedule.offset
            let base = (lastBegin[identifier].map { min($0, now) } ?? now).earlier(by: offset)
            switch calendar.next(identifier, after: base, scheduled: scheduled?.earlier(by: offset)) {
            case .nothing: return nil
            case .ask(let after):
                return .findDate(identifier, expression: expression, timeZone: zone, after: after)
            case .date(let date): return submission(of: identifier, plan, at: max(now, date + offset))
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

extension WallTime {
    /// The point that is earlier by a duration; `nil` means none.
    fileprivate func earlier(by duration: Duration?) -> Self { self + (.zero - (duration ?? .zero)) }
}
