public import TaskModel

extension Scheduler {
    /// Predicts when the next attempt of a waiting transfer will begin, from the conditions now and on
    /// earlier days.
    ///
    /// Like the forecasts of requests, it assumes that only the conditions and the clock change.
    ///
    /// - Parameters:
    ///   - transfer: What the policies judge.
    ///   - notBefore: The end of its wait between two attempts; `nil` if there is none.
    ///   - history: The conditions of earlier days.
    ///   - now: The present time.
    /// - Returns: The forecast.
    public func forecast(
        _ transfer: TransferRequest, notBefore: WallTime?, from history: ConditionHistory, at now: Moment
    ) -> Forecast {
        var idle = self
        idle.situation.sleepSince = nil
        let (end, present) = (now.wall + Forecast.horizon, situation.conditions)
        let unchanged = idle.firstBegin(
            of: transfer, notBefore, under: [ConditionHistory.Entry(at: now.wall, conditions: present)],
            from: now, until: end)
        let days = courseDays(in: history, at: now.wall)
        let courses = days.compactMap { days, weight -> Forecast.Course? in
            guard let course = PossibleCourse(days, in: history, present: present, from: now.wall, until: end)
            else { return nil }
            let start = idle.firstBegin(of: transfer, notBefore, under: course.entries, from: now, until: end)
            return Forecast.Course(start: start, weight: weight)
        }
        return Forecast(courses: courses, unchanged: unchanged)
    }

    /// The first time at which no policy holds the transfer, if the conditions change as given; `nil` if
    /// there is none.
    private mutating func firstBegin(
        of transfer: TransferRequest, _ notBefore: WallTime?, under changes: [ConditionHistory.Entry],
        from now: Moment, until end: WallTime
    ) -> WallTime? {
        for (index, change) in changes.enumerated() {
            guard let conditions = change.conditions else { continue }
            let changeEnd = index + 1 < changes.count ? min(end, changes[index + 1].at) : end
            var time = max(now.wall, change.at, notBefore ?? now.wall)
            guard time < changeEnd else { continue }
            _ = situation.replaceConditions(conditions, at: now.advanced(by: time - now.wall))
            // Each step goes to the next date of a policy.
            for _ in 0..<16 where time < changeEnd {
                let moment = now.advanced(by: time - now.wall)
                situation.notice(time)
                let vetoes = answers(about: transfer, isTelling: false, at: moment).map(\.1).filter(\.isVeto)
                if vetoes.isEmpty { return time }
                let dates = vetoes.compactMap(\.until)
                guard dates.count == vetoes.count, let next = dates.max(), next > time else { break }
                time = next
            }
        }
        return nil
    }
}
