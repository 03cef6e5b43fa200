import TaskModel

/// The conditions of the coming days as they would be if they changed as on an earlier day and after it.
///
/// What is true now holds until the history's next change of the same condition. For example, a machine that
/// is on battery now stays on battery until the earlier day's next change of its power supply, even if it had
/// external power at this time of that day.
///
/// Each later day follows an earlier day of its own, mostly of the same weekday; see ``CourseDays``.
///
/// An active user is an exception, because pauses do not come at the same minute every day: the user stays
/// active for as long as in the earlier day's most similar period of activity, see ``ActivePeriod``.
struct PossibleCourse {
    /// The conditions from each time on, oldest first; `nil` while the machine sleeps or no host runs.
    private(set) var entries: [ConditionHistory.Entry]
    /// The rest of the present activity of the user; `nil` when it is over, or if the user is not active.
    private var period: ActivePeriod?

    /// Creates the course of some earlier days; `nil` if the history has no conditions in the 24 hours after
    /// the present time of day on the first of them.
    ///
    /// - Parameters:
    ///   - days: The earlier days.
    ///   - history: The history of conditions.
    ///   - present: The conditions now.
    ///   - now: The beginning of the course.
    ///   - end: The end of the course.
    init?(
        _ days: CourseDays, in history: ConditionHistory, present: Conditions, from now: WallTime,
        until end: WallTime
    ) {
        let back = days.first
        let day = Duration.seconds(86_400)
        let known = history.changes(
            from: now + (.zero - day * back), to: now + (.zero - day * (back - 1)))
        guard known.contains(where: { $0.conditions != nil }) else { return nil }
        entries = [ConditionHistory.Entry(at: now, conditions: present)]
        period = ActivePeriod(back, in: history, present: present, at: now)
        var held = present
        var time = now
        for (index, back) in ([days.first] + days.later).enumerated() where time < end {
            let reach = min(end, days.change + day * index)
            guard reach > time else { continue }
            follow(history, shiftedBy: day * back, from: time, until: reach, isFirst: time == now, &held)
            time = reach
        }
    }

    /// Adds the changes of a period of the history, moved to a later time.
    private mutating func follow(
        _ history: ConditionHistory, shiftedBy shift: Duration, from start: WallTime, until end: WallTime,
        isFirst: Bool, _ held: inout Conditions
    ) {
        let (before, isAwakeBefore) = history.state(at: start + (.zero - shift))
        guard var last = before else { return }
        // The machine is awake now, whatever it was on the earlier day.
        var isAwake = isFirst || isAwakeBefore
        if !isFirst { add(isAwake ? held : nil, at: start) }
        for entry in history.changes(from: start + (.zero - shift), to: end + (.zero - shift))
        where entry.at + shift > start {
            endPeriod(before: entry.at + shift, isAwake, &held)
            if let conditions = entry.conditions {
                let user = held.user
                held.take(changesFrom: last, to: conditions)
                if period != nil { held.user = user }
                last = conditions
                isAwake = true
            } else {
                isAwake = false
            }
            add(isAwake ? held : nil, at: entry.at + shift)
        }
        endPeriod(before: end, isAwake, &held)
    }

    /// Ends the present activity of the user if it ends before a time.
    private mutating func endPeriod(before time: WallTime, _ isAwake: Bool, _ held: inout Conditions) {
        guard let ended = period, ended.end < time else { return }
        period = nil
        held.user = ended.next
        add(isAwake ? held : nil, at: ended.end)
    }

    private mutating func add(_ conditions: Conditions?, at time: WallTime) {
        if entries.last?.conditions == conditions { return }
        entries.append(ConditionHistory.Entry(at: time, conditions: conditions))
    }
}

/// How long a user who is active now stays active, according to an earlier day.
///
/// Of the periods of activity on that day, at most three hours earlier or later than now, the one counts that
/// had lasted as long as the present one at the most similar time of the day.
private struct ActivePeriod {
    /// How far the period of the earlier day may be from this time of the day: 3 h, our choice.
    private static let reach = Duration.seconds(3 * 3600)

    /// When the activity ends.
    let end: WallTime
    /// The state of the user from then on.
    let next: Reading<UserCondition>

    init?(_ back: Int, in history: ConditionHistory, present: Conditions, at now: WallTime) {
        guard present.user == .known(.active) else { return nil }
        let begun = history.entries.reversed().prefix { $0.conditions?.user == .known(.active) }.last?.at
        let elapsed = begun.map { max(.zero, now - $0) } ?? .zero
        let then = now + (.zero - .seconds(86_400) * back)
        var start: WallTime?
        var best: (distance: Duration, end: WallTime, next: Reading<UserCondition>)?
        for entry in history.changes(from: then + (.zero - Self.reach), to: then + Self.reach) {
            if entry.conditions?.user == .known(.active) {
                start = start ?? entry.at
            } else if let begin = start {
                start = nil
                let similar = begin + elapsed
                guard similar < entry.at else { continue }
                let distance = similar > then ? similar - then : then - similar
                if best.map({ distance < $0.distance }) ?? true {
                    best = (
                        distance, now + (entry.at - similar), entry.conditions?.user ?? .known(.idle)
                    )
                }
            }
        }
        guard let best else { return nil }
        (end, next) = (best.end, best.next)
    }
}

extension Conditions {
    /// Takes over those conditions that differ between two moments of the earlier day.
    mutating func take(changesFrom old: Conditions, to new: Conditions) {
        if old.power != new.power {
            // A change of the charge alone means nothing if one day has external power and the other has not.
            let isSupplyChanged = old.power.value?.externalPower != new.power.value?.externalPower
            if isSupplyChanged || power.value?.externalPower == new.power.value?.externalPower {
                power = new.power
            }
        }
        if old.lowPowerMode != new.lowPowerMode { lowPowerMode = new.lowPowerMode }
        if old.network != new.network { network = new.network }
        if old.thermal != new.thermal { thermal = new.thermal }
        if old.user != new.user { user = new.user }
        if old.pressure != new.pressure { pressure = new.pressure }
        if old.gpu != new.gpu { gpu = new.gpu }
        if old.storage != new.storage { storage = new.storage }
        if old.interfaces != new.interfaces { interfaces = new.interfaces }
        guard old.custom != new.custom else { return }
        for name in Set(old.custom.keys).union(new.custom.keys) where old.custom[name] != new.custom[name] {
            custom[name] = new.custom[name]
        }
    }
}
