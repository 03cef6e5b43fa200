import TaskModel

extension UsageHistogram {
    private static let hoursOfWeek: Int64 = 168
    private static let quartersOfDay: Int64 = 96
    /// How many days the mean of the surrounding quarters counts as: 4.
    ///
    /// Our choice: three days of random uses must not look like a habit, and after a week, each quarter
    /// counts more than its surroundings.
    private static let priorDays = 4.0
    /// How many quarters before one, and how many after it, belong to its surroundings: 4, so an hour each.
    private static let neighbours = 4

    /// Counts a use of the bundle, at most once per local quarter of an hour, and once per local hour.
    mutating func count(at time: WallTime, in situation: Situation) {
        countQuarter(at: time, in: situation)
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

    private mutating func countQuarter(at time: WallTime, in situation: Situation) {
        let quarter = situation.localQuarter(time)
        guard quarter != lastQuarter else { return }
        var counts = quarters ?? []
        let size = Int(2 * Self.quartersOfDay)
        if counts.count != size { counts = Array(repeating: 0, count: size) }
        let day = quarter.floorDivided(by: Self.quartersOfDay)
        if let first = quartersSince, day - first >= 2 * 7 * situation.settings.usageWeeks {
            for index in counts.indices { counts[index] /= 2 }
            quartersSince = day - (day - first) / 2
        }
        if quartersSince == nil || day < quartersSince ?? day { quartersSince = day }
        lastQuarter = quarter
        counts[Self.index(ofQuarter: quarter)] += 1
        quarters = counts
    }

    /// The likelihood of a use in the half hour from the beginning of the local quarter of an hour, from 0 to
    /// 1; `nil` if the history is too short.
    func likelihood(at time: WallTime, in situation: Situation) -> Double? {
        likelihood(inQuarter: situation.localQuarter(time), in: situation)
    }

    /// The likelihood of a use in this quarter of an hour or the next.
    ///
    /// The next quarter counts, too, so that the score is highest before a use and not during it. The
    /// likelihoods are added: who uses the bundle at half past seven does so in one quarter or the other.
    func likelihood(inQuarter quarter: Int64, in situation: Situation) -> Double? {
        let day = quarter.floorDivided(by: Self.quartersOfDay)
        if let quarters, quarters.count == Int(2 * Self.quartersOfDay), let first = quartersSince,
            day - first >= situation.settings.usageDays
        {
            let sum =
                share(ofQuarter: quarter, quarters, since: first, in: situation)
                + share(ofQuarter: quarter + 1, quarters, since: first, in: situation)
            return min(1, sum)
        }
        // The state was stored by a host that counted only hours, less than three days ago.
        let hour = quarter.floorDivided(by: 4)
        guard let now = likelihood(inHour: hour, in: situation) else { return nil }
        return max(now, likelihood(inHour: hour + 1, in: situation) ?? 0)
    }

    /// The share of days on which a quarter of an hour was used.
    ///
    /// The days are working days or days of a weekend, if there were enough of them, else all days. In the
    /// first weeks, the surrounding quarters count, too. If the bundle is used more often in this hour on
    /// this weekday than on others, the share is multiplied by as much.
    private func share(
        ofQuarter quarter: Int64, _ counts: [Int], since first: Int64, in situation: Situation
    ) -> Double {
        let day = quarter.floorDivided(by: Self.quartersOfDay)
        let index = Self.index(ofQuarter: quarter)
        let other = (index + Int(Self.quartersOfDay)) % counts.count - index
        let weekend = Self.weekendDays(from: first, to: day)
        let ofClass = Self.isWeekend(day) ? weekend : day - first - weekend
        let isEnough = ofClass >= situation.settings.usageDays
        let days = Double(isEnough ? ofClass : max(1, day - first))
        func uses(_ index: Int) -> Double {
            isEnough ? Double(counts[index]) : Double(counts[index]) + Double(counts[index + other])
        }
        // The mean of the surrounding quarters counts as ``priorDays`` more days, so that a few days with a
        // use do not make a habit.
        let quarter0 = index % Int(Self.quartersOfDay)
        let around =
            max(
                0, quarter0 - Self.neighbours)...min(
                Int(Self.quartersOfDay) - 1, quarter0 + Self.neighbours)
        let mean = around.reduce(0) { $0 + uses(index - quarter0 + $1) } / Double(around.count) / days
        let share = (uses(index) + Self.priorDays * mean) / (days + Self.priorDays)
        guard share > 0, let firstDay, hours.count == Int(Self.hoursOfWeek),
            day - firstDay >= situation.settings.usageWeekdayDays
        else {
            return min(1, share)
        }
        let hour = quarter.floorDivided(by: 4)
        let daily = Double(daily(hour)) / Double(max(1, day - firstDay))
        let ofWeekday = Double(hours[Self.index(of: hour)]) / (Double(day - firstDay) / 7)
        return min(1, daily > 0 && ofWeekday > daily ? share * ofWeekday / daily : share)
    }

    /// The number of days of weekends from one day to another.
    private static func weekendDays(from first: Int64, to last: Int64) -> Int64 {
        // 1970-01-01 was a Thursday. Both sums count the days since a Monday.
        func sum(_ day: Int64) -> Int64 {
            let days = day + 3
            return days.floorDivided(by: 7) * 2 + max(0, days.floorRemainder(by: 7) - 5)
        }
        return sum(last) - sum(first)
    }

    private static func isWeekend(_ day: Int64) -> Bool { (day + 3).floorRemainder(by: 7) >= 5 }

    private static func index(ofQuarter quarter: Int64) -> Int {
        let day = quarter.floorDivided(by: quartersOfDay)
        return Int(quarter.floorRemainder(by: quartersOfDay) + (isWeekend(day) ? quartersOfDay : 0))
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

    /// The beginning of the first quarter of an hour before `end` that meets a condition on its time and
    /// likelihood.
    func next(
        after time: WallTime, until end: WallTime, in situation: Situation,
        where pleases: (WallTime, Double) -> Bool
    ) -> WallTime? {
        guard firstDay != nil else { return nil }
        let quarter = situation.localQuarter(time)
        for step in 1...(4 * Self.hoursOfWeek) {
            let start = situation.start(ofQuarter: quarter + step)
            if start >= end { return nil }
            if let likelihood = likelihood(inQuarter: quarter + step, in: situation),
                pleases(start, likelihood)
            {
                return start
            }
        }
        return nil
    }

    /// The share of days on which this hour of the day was used.
    ///
    /// After two weeks, the share for this weekday counts instead if it is greater.
    private func share(of hour: Int64, days: Int64, in situation: Situation) -> Double {
        let ofDays = min(1, Double(daily(hour)) / Double(max(1, days)))
        guard days >= situation.settings.usageWeekdayDays else { return ofDays }
        let ofWeekday = min(1, Double(hours[Self.index(of: hour)]) / (Double(days) / 7))
        return max(ofWeekday, ofDays)
    }

    /// How often this hour of the day was used, on all weekdays together.
    private func daily(_ hour: Int64) -> Int {
        let hourOfDay = Int(hour.floorRemainder(by: 24))
        return stride(from: hourOfDay, to: Int(Self.hoursOfWeek), by: 24).reduce(0) { $0 + hours[$1] }
    }

    /// The index of an hour in a week that begins on Monday; 1970-01-01 was a Thursday.
    private static func index(of hour: Int64) -> Int { Int((hour + 3 * 24).floorRemainder(by: hoursOfWeek)) }
}

extension ConductLedger {
    /// The score of the policy Conduct, 0 through 1.
    func score(on today: Int64, _ settings: SchedulerSettings) -> Double {
        min(1, max(0, settings.conductStart + Double(points(on: today, settings)) / 100))
    }

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
        // A recording can have any number of days with any points, whose sum must not overflow.
        days.reduce(0) { sum, day in
            sum + (today - day.day < settings.conductDays ? min(1_000_000, max(-1_000_000, day.points)) : 0)
        }
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
        // An older host could store any number; no day has time for more.
        min(1_000_000, max(0, launchLimit ?? settings.refreshLaunchesPerDay))
    }

    func cpuLimit(_ settings: SchedulerSettings) -> Duration { max(.zero, cpuLimit ?? settings.cpuPerDay) }

    /// The share of both limits that is available at midnight: the bundle's own, or the host's default.
    func burst(_ settings: SchedulerSettings) -> Double { burst ?? settings.budgetBurst }
}
