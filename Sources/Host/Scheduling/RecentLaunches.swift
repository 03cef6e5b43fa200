import TaskModel

extension RecentLaunches {
    private static let minutesPerHour: Int64 = 60

    /// When the newest launch of an identifier began; `nil` if none is recorded.
    ///
    /// A time in the future does not count: it was recorded before the wall clock was set back.
    func newest(of identifier: TaskIdentifier, at now: WallTime) -> WallTime? {
        newest.first { $0.identifier == identifier }.flatMap { $0.beganAt <= now ? $0.beganAt : nil }
    }

    /// How many launches of a kind began within the last hour.
    ///
    /// Launches are counted by the minute: the present minute and the 60 minutes before it count. So a launch
    /// counts for 60 to 61 minutes.
    func count(of kind: TaskKind, at now: WallTime) -> Int {
        let current = now.minute
        return minutes.reduce(0) { $0 + ($1.kind == kind && $1.isWithinHour(of: current) ? $1.launches : 0) }
    }

    /// When fewer than `limit` launches of a kind lie within the last hour, if no other launch begins until
    /// then.
    ///
    /// Returns `nil` if that is so now, or if it never will be.
    func date(ofFewerThan limit: Int, of kind: TaskKind, at now: WallTime) -> WallTime? {
        var left = count(of: kind, at: now)
        guard left >= limit, limit > 0 else { return nil }
        let current = now.minute
        for minute in minutes where minute.kind == kind && minute.isWithinHour(of: current) {
            left -= minute.launches
            if left < limit {
                return WallTime(sinceEpoch: .seconds((minute.minute + Self.minutesPerHour + 1) * 60))
            }
        }
        return nil
    }

    /// Records a launch, and removes entries that no longer affect any decision.
    mutating func note(
        _ identifier: TaskIdentifier, _ kind: TaskKind, at now: WallTime, _ settings: SchedulerSettings
    ) {
        newest.removeAll {
            $0.identifier == identifier || $0.beganAt > now || now - $0.beganAt >= settings.launchSpacing
        }
        let place = newest.firstIndex { $0.identifier > identifier } ?? newest.endIndex
        newest.insert(Newest(identifier: identifier, beganAt: now), at: place)
        let current = now.minute
        minutes.removeAll { !$0.isWithinHour(of: current) }
        if let index = minutes.firstIndex(where: { $0.kind == kind && $0.minute == current }) {
            minutes[index].launches += 1
        } else {
            minutes.append(Minute(kind: kind, minute: current, launches: 1))
        }
    }

    /// Removes a launch that was recorded at `began` but did not start.
    mutating func forget(
        _ identifier: TaskIdentifier, _ kind: TaskKind, beganAt began: WallTime, previous: WallTime?
    ) {
        if let index = newest.firstIndex(where: { $0.identifier == identifier && $0.beganAt == began }) {
            if let previous { newest[index].beganAt = previous } else { newest.remove(at: index) }
        }
        if let index = minutes.firstIndex(where: { $0.kind == kind && $0.minute == began.minute }) {
            minutes[index].launches -= 1
            if minutes[index].launches <= 0 { minutes.remove(at: index) }
        }
    }
}

extension RecentLaunches.Minute {
    /// Whether the minute is the present one or one of the 60 before it.
    fileprivate func isWithinHour(of current: Int64) -> Bool { minute <= current && current - minute <= 60 }
}

extension WallTime {
    /// Minutes since 1970-01-01 00:00 UTC, rounded down.
    fileprivate var minute: Int64 { wholeSeconds.floorDivided(by: 60) }
}
