import TaskModel

extension UsageHistogram {
    private static let hoursOfWeek: Int64 = 168

    /// Counts a use of the bundle, at most once per local hour.
    mutating func count(at time: WallTime, in situation: Situation) {
        let hour = situation.localHour(time)
        guard hour != lastHour else { return }
        if hours.count != Int(Self.hoursOfWeek) { hours = Array(repeating: 0, count: Int(Self.hoursOfWeek)) }
        let day = situation.localDay(time)
        if let first = firstDay, day - first >= 2 * 7 * situation.settings.usageWeeks {
            // Older uses count half, and the counts then stand for half as many days.
            for index in hours.indices { hours[index] /= 2 }
            firstDay = day - (day - first) / 2
        }
        if firstDay == nil || day < firstDay ?? day { firstDay = day }
        lastHour = hour
        hours[Self.index(of: hour)] += 1
    }

    /// The likelihood of a use in this local hour or the next, from 0 to 1; `nil` if the history is too
    /// short.
    func likelihood(at time: WallTime, in situation: Situation) -> Double? {
        guard let firstDay, hours.count == Int(Self.hoursOfWeek) else { return nil }
        let days = situation.localDay(time) - firstDay
        guard days >= situation.settings.usageDays else { return nil }
        let hour = situation.localHour(time)
        // The next hour counts, too, so that the score rises before the use and not during it.
        return max(share(of: hour, days: days, in: situation), share(of: hour + 1, days: days, in: situation))
    }

    /// The share of days with a use in this local hour, from 0 to 1; `nil` if the history is too short.
    func likelihood(inHour hour: Int64, in situation: Situation) -> Double? {
        guard let firstDay, hours.count == Int(Self.hoursOfWeek) else { return nil }
        let days = hour.floorDivided(by: 24) - firstDay
        guard days >= situation.settings.usageDays else { return nil }
        return share(of: hour, days: days, in: situation)
    }

    /// When the likelihood next exceeds a level, within a week; `nil` if it does not, or if it is not known.
    func nextRise(after time: WallTime, above level: Double, in situation: Situation) -> WallTime? {
        next(after: time, until: time + .seconds(7 * 86_400), in: situation) { $1 > level + 0.005 }
    }

    /// The beginning of the first hour before `end` that meets a condition on its time and likelihood.
    func next(
        after time: WallTime, until end: WallTime, in situation: Situation,
        where pleases: (WallTime, Double) -> Bool
    ) -> WallTime? {
        guard firstDay != nil else { return nil }
        let hour = situation.localHour(time)
        for step in 1...Self.hoursOfWeek {
            let start = situation.start(ofHour: hour + step)
            if start >= end { return nil }
            if let likelihood = likelihood(at: start, in: situation), pleases(start, likelihood) {
                return start
            }
        }
        return nil
    }

    /// The share of days on which this hour of the day was used.
    ///
    /// After two weeks, the share for this weekday counts instead if it is greater.
    private func share(of hour: Int64, days: Int64, in situation: Situation) -> Double {
        let hourOfDay = Int(hour.floorRemainder(by: 24))
        let daily = stride(from: hourOfDay, to: Int(Self.hoursOfWeek), by: 24).reduce(0) { $0 + hours[$1] }
        let ofDays = min(1, Double(daily) / Double(max(1, days)))
        guard days >= situation.settings.usageWeekdayDays else { return ofDays }
        let ofWeekday = min(1, Double(hours[Self.index(of: hour)]) / (Double(days) / 7))
        return max(ofWeekday, ofDays)
    }

    /// The index of an hour in a week that begins on Monday; 1970-01-01 was a Thursday.
    private static func index(of hour: Int64) -> Int { Int((hour + 3 * 24).floorRemainder(by: hoursOfWeek)) }
}

extension ConductLedger {
    /// The sum of points in the days that count, limited by the floor and the ceiling.
    func points(on today: Int64, _ settings: SchedulerSettings) -> Int {
        Self.bounded(sum(on: today, settings), settings)
    }

    /// Adds points to a day, within the limits, and removes days that no longer count.
    mutating func add(_ points: Int, on today: Int64, _ settings: SchedulerSettings) {
        guard points != 0 else { return }
        // Days in the future were recorded before the clock was set back.
        days.removeAll { today - $0.day >= settings.conductDays || $0.day > today }
        // Removing old days can leave a sum outside the limits; the excess is removed, too.
        let sum = sum(on: today, settings)
        let points = Self.bounded(Self.bounded(sum, settings) + points, settings) - sum
        guard points != 0 else { return }
        if let last = days.indices.last, days[last].day == today {
            days[last].points += points
        } else {
            days.append(Day(day: today, points: points))
        }
    }

    private func sum(on today: Int64, _ settings: SchedulerSettings) -> Int {
        days.reduce(0) { $0 + (today - $1.day < settings.conductDays ? $1.points : 0) }
    }

    private static func bounded(_ points: Int, _ settings: SchedulerSettings) -> Int {
        min(settings.conductCeiling, max(-settings.conductFloor, points))
    }
}

extension BudgetAccount {
    /// The account at a time; on a new day, nothing has been spent.
    func current(at time: WallTime, in situation: Situation) -> BudgetAccount {
        let today = situation.localDay(time)
        // A day in the future was recorded before the clock was set back; its spending counts for today.
        guard let day, day < today else { return self }
        var refilled = self
        refilled.day = today
        refilled.launches = 0
        refilled.cpu = .zero
        return refilled
    }

    /// Adds spending to the account, for the local day of this time.
    mutating func spend(launches: Int = 0, cpu: Duration = .zero, at time: WallTime, in situation: Situation)
    {
        self = current(at: time, in: situation)
        day = situation.localDay(time)
        self.launches += max(0, launches)
        self.cpu += max(.zero, cpu)
    }

    func launchLimit(_ settings: SchedulerSettings) -> Int {
        max(0, launchLimit ?? settings.refreshLaunchesPerDay)
    }

    func cpuLimit(_ settings: SchedulerSettings) -> Duration { max(.zero, cpuLimit ?? settings.cpuPerDay) }

    /// The share of both limits that is available at midnight: the bundle's own, or the host's default.
    func burst(_ settings: SchedulerSettings) -> Double { burst ?? settings.budgetBurst }
}
