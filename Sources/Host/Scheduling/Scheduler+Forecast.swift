public import TaskModel

extension Scheduler {
    /// Predicts when a waiting request will start, from the conditions now and on earlier days.
    ///
    /// Each recorded day gives one course of events, see ``PossibleCourse``. Courses of the same weekday
    /// count most. They ignore other launches: they assume that only the conditions and the clock change. The
    /// date without any change is not before the latest end of a launch that holds the request.
    public func forecast(_ request: TaskRequest, from history: ConditionHistory, at now: Moment) -> Forecast {
        var idle = self
        idle.situation.occupancy = Occupancy()
        // How long the machine will sleep is not known; the history has no conditions for its sleeps.
        idle.situation.sleepSince = nil
        let end = now.wall + Forecast.horizon
        let present = situation.conditions
        var unchanged = idle.firstStart(
            of: request, under: [ConditionHistory.Entry(at: now.wall, conditions: present)], from: now,
            until: end)
        if let start = unchanged, let free = slotIsFree(for: request, at: now) {
            unchanged = max(start, free)
        }
        // The host answers nothing else during a forecast, so the courses that count least are left out when
        // conditions change very often.
        var looksLeft = 20_000
        var courses: [Forecast.Course] = []
        for (days, weight) in courseDays(in: history, at: now.wall) where looksLeft > 0 {
            guard let course = PossibleCourse(days, in: history, present: present, from: now.wall, until: end)
            else { continue }
            let start = idle.firstStart(of: request, under: course.entries, from: now, until: end, &looksLeft)
            courses.append(Forecast.Course(start: start, weight: weight))
        }
        return Forecast(courses: courses, unchanged: unchanged)
    }

    /// When a launch has ended at the latest that the request waits for; `nil` if there is none, or if
    /// nothing limits it.
    private func slotIsFree(for request: TaskRequest, at now: Moment) -> WallTime? {
        let subject = situation.subject(request, isTelling: false)
        let foresight = Foresight(self, at: now)
        // One slot is enough, but each policy must be content.
        return Self.policies.filter { $0.answer(for: subject, in: situation, at: now).isVeto }
            .compactMap { foresight.slotHolders(of: request, [$0]).compactMap(\.latestEnd).min() }.max()
    }

    /// The first time at which the request may start, if the conditions change as given; `nil` if it does
    /// not.
    mutating func firstStart(
        of request: TaskRequest, under changes: [ConditionHistory.Entry], from now: Moment,
        until end: WallTime
    ) -> WallTime? {
        var looks = Int.max
        return firstStart(of: request, under: changes, from: now, until: end, &looks)
    }

    private mutating func firstStart(
        of request: TaskRequest, under changes: [ConditionHistory.Entry], from now: Moment,
        until end: WallTime, _ looksLeft: inout Int
    ) -> WallTime? {
        for (index, change) in changes.enumerated() {
            guard let conditions = change.conditions else { continue }
            let changeEnd = index + 1 < changes.count ? min(end, changes[index + 1].at) : end
            var time = max(now.wall, change.at)
            var isRate = false
            guard time < changeEnd else { continue }
            _ = situation.replaceConditions(conditions, at: now.advanced(by: time - now.wall))
            // Each step goes to the next date of a policy. The limit is for a policy whose dates would be
            // very close together.
            for _ in 0..<64 where time < changeEnd {
                let moment = now.advanced(by: time - now.wall)
                looksLeft -= 1
                guard let next = nextLook(at: request, moment) else {
                    // A change of the conditions is an event, which starts the request. Without one, it
                    // starts with its alarm.
                    if index > 0, time == change.at { return time }
                    let subject = situation.subject(request, isTelling: false)
                    // What may start now has its alarm already.
                    let known = time == now.wall ? pending.alarm(of: request.id) : nil
                    let alarm =
                        known.map { max(time, $0) }
                        ?? alarm(of: subject, after: time, isRate: isRate, at: moment)
                    if alarm < changeEnd { return alarm }
                    break
                }
                guard next.date > time, next.date < changeEnd else { break }
                (time, isRate) = next
            }
        }
        return nil
    }

    /// When the request must be judged again; `nil` if it may start now, the far future if no date is known.
    private func nextLook(at request: TaskRequest, _ now: Moment) -> (date: WallTime, isRate: Bool)? {
        let subject = situation.subject(request, isTelling: false)
        let judgement = judge(subject, isSimulated: false, isDeciding: true, at: now)
        if judgement.mayStart { return nil }
        if let wait = judgement.wait { return (wait.until ?? .distantFuture, Self.isRate(judgement)) }
        guard let score = judgement.score else { return (.distantFuture, false) }
        return (dateOfScore(score, subject, judgement.choice, at: now), false)
    }
}

extension WallTime {
    /// Later than every date in the scheduler.
    static let distantFuture = WallTime(sinceEpoch: .seconds(Int64.max / 4))
}
