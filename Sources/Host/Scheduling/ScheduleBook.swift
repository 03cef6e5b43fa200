import TaskModel

/// The schedules of the manifests, and when each identifier last began.
///
/// A schedule keeps one request pending per identifier. The next date is one period after the last launch began, whoever
/// asked for it, and not later than one period from now; if that is past, it is now: missed periods come once. Nothing but
/// the last launch decides, so a restart of the host neither doubles nor loses one.
struct ScheduleBook: Sendable {
    private var plans: [TaskIdentifier: (bundle: BundleIdentifier, schedule: Schedule)] = [:]
    private var lastBegin: [TaskIdentifier: WallTime] = [:]
    private var asked: Set<TaskIdentifier> = []
    private var retries: [TaskIdentifier: WallTime] = [:]
    /// Identifiers that may have to be asked for since the last look.
    private var touched: Set<TaskIdentifier> = []

    mutating func replacePlans(_ plans: [TaskIdentifier: (bundle: BundleIdentifier, schedule: Schedule)]) {
        self.plans = plans
        touched.formUnion(plans.keys)
    }

    mutating func touch(_ identifier: TaskIdentifier) {
        if plans[identifier] != nil { touched.insert(identifier) }
    }

    mutating func touchAll() { touched.formUnion(plans.keys) }

    func hasPlan(_ identifier: TaskIdentifier) -> Bool { plans[identifier] != nil }

    /// A launch of it began, or the date of a cancelled one counts as used.
    mutating func began(_ identifier: TaskIdentifier, at time: WallTime) { lastBegin[identifier] = time }

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
    }

    /// When a refused request is asked for again.
    var nextRetry: WallTime? { retries.values.min() }

    /// The identifiers to look at now, in order.
    mutating func takeTouched(at now: WallTime) -> [TaskIdentifier] {
        for (identifier, time) in retries where time <= now {
            retries[identifier] = nil
            touched.insert(identifier)
        }
        defer { touched = [] }
        return touched.sorted()
    }

    /// Asks for the identifier's next request.
    ///
    /// `pending` and `isUnderWay` say what there is of it already.
    mutating func ask(
        _ identifier: TaskIdentifier, pending: TaskRequest?, isUnderWay: Bool, at now: WallTime
    ) -> SchedulerAction? {
        guard let (bundle, schedule) = plans[identifier], !isUnderWay else { return nil }
        guard !asked.contains(identifier), retries[identifier] == nil else { return nil }
        if let pending {
            // Only one that lies further off than a period can is wrong: the period was shortened or the clock set back.
            guard pending.submission.origin == .schedule, let date = pending.submission.earliestBeginDate,
                date > now + schedule.every
            else { return nil }
        }
        let next = lastBegin[identifier].map { min($0, now) + schedule.every } ?? now
        let date = max(now, next)
        asked.insert(identifier)
        return .submitScheduled(identifier, bundle, earliest: date, deadline: date + schedule.tolerance)
    }
}
