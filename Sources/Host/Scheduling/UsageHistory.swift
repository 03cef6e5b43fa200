import TaskModel

extension UsageHistogram {
    private static let hoursOfWeek: Int64 = 168

    /// Counts a use, once an hour.
    mutating func count(at time: WallTime, in situation: Situation) {
        let hour = situation.localHour(time)
        guard hour != lastHour else { return }
        if hours.count != Int(Self.hoursOfWeek) { hours = Array(repeating: 0, count: Int(Self.hoursOfWeek)) }
        let day = situation.localDay(time)
        if let first = firstDay, day - first >= 2 * 7 * situation.settings.usageWeeks {
            // Old habits count half: the sums stand for half the days from here on.
            for index in hours.indices { hours[index] /= 2 }
            firstDay = day - (day - first) / 2
        }
        if firstDay == nil || day < firstDay ?? day { firstDay = day }
        lastHour = hour
        hours[Self.index(of: hour)] += 1
    }

    /// How likely a use is within the hour that begins or ends here, 0 through 1; `nil` with too little
    /// history.
    func likelihood(at time: WallTime, in situation: Situation) -> Double? {
        guard let firstDay, hours.count == Int(Self.hoursOfWeek) else { return nil }
        let days = situation.localDay(time) - firstDay
        guard days >= situation.settings.usageDays else { return nil }
        let hour = situation.localHour(time)
        // The hour to come counts in full, so that the score is up before the use and not with it.
        return max(share(of: hour, days: days), share(of: hour + 1, days: days))
    }

    /// When the likelihood next rises, within a week; `nil` if it does not, or nothing is known.
    func nextRise(after time: WallTime, above level: Double, in situation: Situation) -> WallTime? {
        next(after: time, until: time + .seconds(7 * 86_400), in: situation) { $1 > level + 0.005 }
    }

    /// The first hour before `end` whose beginning and likelihood please.
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

    /// In which share of the days seen this hour was used: of all days, and of this weekday once there are
    /// two weeks.
    private func share(of hour: Int64, days: Int64) -> Double {
        let hourOfDay = Int(hour.floorRemainder(by: 24))
        let daily = stride(from: hourOfDay, to: Int(Self.hoursOfWeek), by: 24).reduce(0) { $0 + hours[$1] }
        let ofDays = min(1, Double(daily) / Double(max(1, days)))
        guard days >= 14 else { return ofDays }
        let ofWeekday = min(1, Double(hours[Self.index(of: hour)]) / (Double(days) / 7))
        return max(ofWeekday, ofDays)
    }

    /// 1970-01-01 was a Thursday, three days after a Monday.
    private static func index(of hour: Int64) -> Int { Int((hour + 3 * 24).floorRemainder(by: hoursOfWeek)) }
}

extension ConductLedger {
    /// The points of the days that still count, between the floor and the ceiling.
    func points(on today: Int64, _ settings: SchedulerSettings) -> Int {
        Self.bounded(sum(on: today, settings), settings)
    }

    /// Adds points to a day, as far as the bounds leave room, and forgets the days that no longer count.
    mutating func add(_ points: Int, on today: Int64, _ settings: SchedulerSettings) {
        guard points != 0 else { return }
        // Days that lie ahead are from before the clock was set back.
        days.removeAll { today - $0.day >= settings.conductDays || $0.day > today }
        // What lies beyond a bound by now, as an older day was forgotten, is not worth anything either.
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
    /// The account as it stands now: a new day refills it.
    func current(at time: WallTime, in situation: Situation) -> BudgetAccount {
        let today = situation.localDay(time)
        // One that lies ahead is from before the clock was set back: what was spent stays spent for today.
        guard let day, day < today else { return self }
        var refilled = self
        refilled.day = today
        refilled.launches = 0
        refilled.cpu = .zero
        return refilled
    }

    /// Spends; the account stands on this day then.
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
}
