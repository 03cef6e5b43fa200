public import TaskModel

extension Scheduler {
    /// Predicts when a waiting request will start, from the conditions at this time on earlier days.
    ///
    /// The forecast ignores other launches. It assumes that only the conditions and the clock change.
    public func forecast(_ request: TaskRequest, from history: ConditionHistory, at now: Moment) -> Forecast {
        let day = Duration.seconds(86_400)
        var idle = self
        idle.situation.occupancy = Occupancy()
        // How long the machine will sleep is not known; the history has no conditions for its sleeps.
        idle.situation.sleepSince = nil
        var days = 0
        var starts: [WallTime] = []
        for back in 1...Int(ConditionHistory.span / day) {
            let shift = day * back
            let changes = history.changes(from: now.wall + (.zero - shift), to: now.wall + (day - shift))
            guard changes.contains(where: { $0.conditions != nil }) else { continue }
            days += 1
            let future = changes.map { ConditionHistory.Entry(at: $0.at + shift, conditions: $0.conditions) }
            if let start = idle.firstStart(of: request, under: future, from: now, until: now.wall + day) {
                starts.append(start)
            }
        }
        return Forecast(days: days, starts: starts)
    }

    /// The first time at which the request may start, if the conditions change as given; `nil` if it does
    /// not.
    private mutating func firstStart(
        of request: TaskRequest, under changes: [ConditionHistory.Entry], from now: Moment,
        until end: WallTime
    ) -> WallTime? {
        for (index, change) in changes.enumerated() {
            guard let conditions = change.conditions else { continue }
            let changeEnd = index + 1 < changes.count ? min(end, changes[index + 1].at) : end
            var time = max(now.wall, change.at)
            guard time < changeEnd else { continue }
            _ = situation.replaceConditions(conditions, at: now.advanced(by: time - now.wall))
            // Each step goes to the next date of a policy. The limit is for a policy that would return past
            // dates.
            for _ in 0..<64 where time < changeEnd {
                let moment = now.advanced(by: time - now.wall)
                guard let next = nextLook(at: request, moment) else { return time }
                guard next > time, next < changeEnd else { break }
                time = next
            }
        }
        return nil
    }

    /// When the request must be judged again; `nil` if it may start now, the far future if no date is known.
    private func nextLook(at request: TaskRequest, _ now: Moment) -> WallTime? {
        let subject = situation.subject(request, isTelling: false)
        let judgement = judge(subject, isSimulated: false, at: now)
        if judgement.mayStart { return nil }
        if let wait = judgement.wait { return wait.until ?? .distantFuture }
        guard let score = judgement.score else { return .distantFuture }
        return dateOfScore(score, Threshold(request, settings), subject, at: now)
    }
}

extension WallTime {
    /// Later than every date in the scheduler.
    static let distantFuture = WallTime(sinceEpoch: .seconds(Int64.max / 4))
}
