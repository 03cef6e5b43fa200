public import TaskModel

extension Scheduler {
    /// When a request that waits would likely start, by the policies that decide and the days of the history.
    ///
    /// Other launches are left out of it, and everything but the conditions and the clock stays as it is now.
    public func forecast(_ request: TaskRequest, from history: ConditionHistory, at now: Moment) -> Forecast {
        let day = Duration.seconds(86_400)
        var idle = self
        idle.situation.occupancy = Occupancy()
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

    /// The first instant at which nothing keeps the request from starting, if the conditions change like
    /// this.
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
            // Dates fall one after the other; more steps than policies have dates would be a policy that
            // gives past ones.
            for _ in 0..<64 where time < changeEnd {
                let moment = now.advanced(by: time - now.wall)
                guard let next = nextLook(at: request, moment) else { return time }
                guard next > time, next < changeEnd else { break }
                time = next
            }
        }
        return nil
    }

    /// When to look again at what may not start now; `nil` if it may, the far future if no date is known.
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
    /// After every date that is ever compared.
    static let distantFuture = WallTime(sinceEpoch: .seconds(Int64.max / 4))
}
