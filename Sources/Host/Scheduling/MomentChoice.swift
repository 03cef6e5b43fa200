import TaskModel

/// The choice of the moment at which a request starts within its window.
///
/// The window is divided into local quarters of an hour. The value of a quarter is the score that a launch at
/// its beginning would probably have: from the conditions of earlier days at this time
/// (``ConditionOutlook``), and from the hours in which the bundle is usually used. Without an outlook, only
/// the hours of use differ from quarter to quarter. For a task with `prefetch`, and for a refresh of a bundle
/// with a habit, the likelihood of use is the value.
///
/// A request waits while a better quarter is still to come, and starts as soon as there is none. What was
/// expected and does not happen therefore delays it only until the time for which it was expected.
struct MomentChoice: Sendable {
    /// What the values are.
    enum Measure: Sendable {
        /// Expected scores, which the request's present score is compared with.
        case score
        /// The part of the score that comes from the use of the bundle; all else is the same at all times.
        case partOfUse
        /// The likelihood of use, for `prefetch` and for refreshes.
        case use
    }

    /// The least likelihood of use within half an hour for which a task with `prefetch` waits: 0.2.
    ///
    /// Our choice: below that, the history shows no habit, and any moment is as good.
    static let leastUse = 0.2
    /// The least likelihood of use within half an hour for which a refresh waits, whatever the conditions
    /// are: 0.4.
    ///
    /// Our choice: a bundle that is used at random times of the day, about once an hour, has less on average;
    /// one that is used at the same time on every other day has more.
    static let leastHabit = 0.4
    /// How much more likely the use must be at the best time than on average in the window, for a refresh to
    /// wait for it: 0.3.
    ///
    /// Our choice: a habit stands out more than that. If uses come at random, some time of the day has more
    /// of them by chance, and a refresh that waited for it would need a wake-up of its own for nothing. See
    /// decision 48.
    static let leastContrast = 0.3
    /// How much better the score must be at the best time than at the end of the window, for the host to wake
    /// for the best time: 0.2.
    ///
    /// Our choice: what a certain use, or external power in place of a battery at 40 %, adds; an idle device
    /// adds about 0.15. For less, a request waits only for other events, and then for the end of its window.
    static let leastGain = 0.2
    /// The share of the greatest likelihood of use that is enough: 0.75.
    ///
    /// Our choice: of several likely times, the task does not wait for a later one that is hardly better.
    static let shareOfUse = 0.75
    /// How far a request looks ahead for a better moment: one day.
    ///
    /// Our choice: habits repeat every day.
    static let horizon = Duration.seconds(86_400)

    /// The shortest window in which a request chooses: 30 min.
    ///
    /// Our choice: a refresh serves the uses of the next half hour, so moving it by less changes little, and
    /// costs wake-ups of its own.
    static let leastWindow = Duration.seconds(1800)

    /// For how many quarters after its start the conditions of processing should be good: 2, so 30 min.
    ///
    /// Our choice: longer than most launches. Otherwise, the last good quarter would be chosen, and the
    /// launch would be stopped when the user comes back.
    static let quartersOfWork: Int64 = 2

    /// The value of a quarter at whose beginning `between` or `when` does not let the request start.
    static let closed = -Double.infinity

    let measure: Measure
    /// The number of the local quarter of the first value.
    let first: Int64
    /// The values of the quarters, from now or the beginning of the window to its end; at least one is not
    /// ``closed``.
    let values: [Double]
    /// The likelihoods of use in the same quarters; `nil` if they are not known.
    let uses: [Double]?
    let margin: Double
    /// The least likelihood of use for which the request waits, if that is the measure.
    let least: Double

    /// The position of a quarter in ``values``; `nil` before the first and after the last.
    func position(ofQuarter quarter: Int64) -> Int? {
        let position = Int(quarter - first)
        return values.indices.contains(position) ? position : nil
    }

    /// Whether the clock lets the request start at the beginning of a quarter.
    func isOpen(at position: Int) -> Bool { values[position] > Self.closed }

    /// The value that a start in a quarter must have, so that no later one is better; `nil` if any is enough.
    func demand(at position: Int) -> Double? {
        guard let rest = best(after: position)?.value else { return nil }
        switch measure {
        case .score, .partOfUse: return rest - margin
        case .use: return rest < least ? nil : rest * Self.shareOfUse
        }
    }

    /// Whether a start in a quarter is good enough, if the conditions are as they are now.
    func suffices(_ score: ScoreSum, at position: Int) -> Bool {
        guard let demand = demand(at: position) else { return true }
        switch measure {
        case .score: return score.mean(usage: uses?[position]) + 1e-9 >= demand
        case .partOfUse, .use: return values[position] + 1e-9 >= demand
        }
    }

    /// The quarter for which the host wakes, if no other event comes from a quarter on; `nil` for the end of
    /// the window.
    ///
    /// This is the last quarter that is good enough, so that one alarm serves as many requests as possible,
    /// if it is better than the end of the window by ``leastGain``. If the likelihood of use is the measure,
    /// it is the first one.
    func planned(from position: Int) -> Int? {
        guard position < values.count, let best = values[position...].max(), best > Self.closed else {
            return nil
        }
        switch measure {
        case .score, .partOfUse:
            let last = values[position...].lastIndex { $0 + 1e-9 >= best - margin }
            return last == values.count - 1 || best - values[values.count - 1] < Self.leastGain ? nil : last
        case .use:
            return values[position...].firstIndex { $0 + 1e-9 >= best * Self.shareOfUse }
        }
    }

    /// The greatest value after a position, with that position; `nil` after the last one.
    func best(after position: Int) -> (position: Int, value: Double)? {
        guard position + 1 < values.count else { return nil }
        let rest = values[(position + 1)...]
        guard let value = rest.max(), value > Self.closed, let index = rest.firstIndex(of: value) else {
            return nil
        }
        return (index, value)
    }
}

extension Scheduler {
    /// The moments that a request can choose from a time on; `nil` if there is no choice.
    ///
    /// Only requests in their first attempt choose: those of schedules and of activities, and requests for
    /// processing, whose window ends with their deadline. A client that submits a refresh without a window
    /// wants it soon.
    ///
    /// - Parameters:
    ///   - subject: The request.
    ///   - time: The time from which it can start; the beginning of its window, if that is later.
    ///   - conduct: The score of the bundle's conduct in the expected scores.
    ///   - now: The present time.
    /// - Returns: The choice; `nil` if there is none, or if nothing about it is known.
    func momentChoice(of subject: Subject, from time: WallTime, conduct: Double, at now: Moment)
        -> MomentChoice?
    {
        let request = subject.request
        guard subject.isDiscretionary, request.kind != .push, request.attempt == 1, request.notBefore == nil
        else { return nil }
        let window = LaunchWindow(request, settings)
        let start = max(time, window.ripe)
        guard start < window.due, window.due - window.ripe >= MomentChoice.leastWindow else { return nil }
        let isPrefetch = subject.needs.prefetch
        guard isPrefetch || settings.scoreThreshold > 0 && (window.isGiven || request.kind == .processing)
        else { return nil }
        let first = situation.localQuarter(start)
        let last = situation.localQuarter(min(window.due, start + MomentChoice.horizon))
        guard first < last else { return nil }
        let usage = subject.bundle.usage
        let areUsesKnown = usage.likelihood(inQuarter: first, in: situation) != nil
        guard areUsesKnown || outlook != nil else { return nil }
        let uses =
            areUsesKnown
            ? (first...last).map { usage.likelihood(inQuarter: $0, in: situation) ?? 0 } : []
        let least = isPrefetch ? MomentChoice.leastUse : MomentChoice.leastHabit
        // Long work needs good conditions not only for its start.
        let room = request.lane == .long ? MomentChoice.quartersOfWork : 0
        let openings = situation.openings(
            inQuarters: first...(last + room), after: start, subject.needs.constraints)
        guard openings.prefix(Int(last - first + 1)).contains(true) else { return nil }
        func opened(_ values: [Double]) -> [Double] {
            zip(values, openings).map { $1 ? $0 : MomentChoice.closed }
        }
        func choice(_ measure: MomentChoice.Measure, _ values: [Double]) -> MomentChoice {
            MomentChoice(
                measure: measure, first: first, values: values, uses: areUsesKnown ? uses : nil,
                margin: settings.scoreMargin, least: least)
        }
        // A refresh is for the next look of the user, so a habit counts more than the conditions.
        let isForUse = isPrefetch || (request.kind == .appRefresh && settings.weights.usage > 0)
        if isForUse, areUsesKnown {
            let values = opened(uses)
            let open = values.filter { $0 > MomentChoice.closed }
            let mean = open.reduce(0, +) / Double(max(1, open.count))
            if let best = values.max(), best >= least, isPrefetch || best - mean >= MomentChoice.leastContrast
            {
                return choice(.use, values)
            }
        }
        guard settings.scoreThreshold > 0, window.isGiven || request.kind == .processing else { return nil }
        let weights = settings.weights
        guard let outlook, outlook.index(of: situation.start(ofQuarter: first)) != nil else {
            // Without an outlook, processing has no reason to wait for the use of its bundle.
            guard areUsesKnown, window.isGiven else { return nil }
            let sum = weights.sum
            return choice(.partOfUse, opened(uses.map { $0 * weights.usage / max(1e-9, sum) }))
        }
        let prospects = prospects(of: subject, outlook, at: now)
        let weight = weights.conduct + weights.coalescing + (areUsesKnown ? weights.usage : 0)
        let constant = conduct * weights.conduct + settings.scores.nothingRunning * weights.coalescing
        var values: [Double] = []
        for quarter in first...(last + room) {
            guard let slot = outlook.index(of: situation.start(ofQuarter: quarter)) else { break }
            let use = areUsesKnown && quarter <= last ? uses[Int(quarter - first)] * weights.usage : 0
            // Work that begins shortly before `between` closes is stopped, so what follows counts 0.
            let isOpen = openings[Int(quarter - first)]
            values.append(
                isOpen ? prospects.score(inSlot: slot, addingScore: constant + use, weight: weight) : 0)
        }
        let count = min(values.count, Int(last - first + 1))
        for index in 0..<count {
            let worked = values[index...].prefix(Int(room) + 1)
            values[index] = worked.reduce(0, +) / Double(worked.count)
        }
        values.removeLast(values.count - count)
        values = opened(values)
        return values.count > 1 && values.contains { $0 > MomentChoice.closed }
            ? choice(.score, values) : nil
    }

    /// The moments that a request can choose now, as its score is compared with them.
    func momentChoice(of subject: Subject, at now: Moment) -> MomentChoice? {
        let conduct = subject.bundle.conduct.score(on: situation.localDay(now.wall), settings)
        return momentChoice(of: subject, from: now.wall, conduct: conduct, at: now)
    }

    /// When the host wakes for a request that can start from a date on, if no other event comes.
    ///
    /// It depends only on the request, the outlook and the hours of use, and not on the present conditions.
    ///
    /// - Within the window, it is the last moment that is good enough, or the end of the window.
    /// - After the window, it is the date. A request that a rate or a budget held longer than to the end of
    ///   its window has the same time again from that date on, so that one alarm serves all that were held.
    /// - It is at least ``wakeMargin`` before `between` closes, before the clock makes `when` false or harder
    ///   to fulfil, and before the request fails. But it is never before the date.
    ///
    /// - Parameters:
    ///   - subject: The request.
    ///   - date: The date.
    ///   - isRate: Whether the date is that of a policy in ``ratePolicies``.
    ///   - now: The present time.
    /// - Returns: The alarm.
    func alarm(of subject: Subject, after date: WallTime, isRate: Bool = false, at now: Moment) -> WallTime {
        let constraints = subject.needs.constraints
        var alarm = usualAlarm(of: subject, after: date, isRate: isRate, at: now)
        if let when = constraints?.when, when.dependsOnClock {
            alarm = situation.alarm(for: when, after: date, usual: alarm, margin: Self.wakeMargin)
        }
        if let window = constraints?.between {
            let state = situation.state(of: window, at: date)
            let opening = state.isOpen ? date : state.until
            let closing = state.isOpen ? state.until : situation.state(of: window, at: opening).until
            alarm = min(alarm, max(opening, closing + (.zero - Self.wakeMargin)))
        }
        if let end = subject.request.failsAt {
            alarm = min(alarm, max(date, end + (.zero - Self.wakeMargin)))
        }
        return alarm
    }

    /// How long before a request cannot start any more the host wakes for it: 1 min.
    ///
    /// Our choice: an alarm that comes late by some seconds is still in time.
    private static let wakeMargin = Duration.seconds(60)

    /// The policies that limit how often something starts.
    ///
    /// After their dates, a request has its window again; the dates of all other policies are those from
    /// which nothing is won by waiting.
    private static let ratePolicies: Set<String> = [Budget().name, RateLimit().name]

    /// Whether the policy that holds a request limits how often something starts.
    static func isRate(_ judgement: Judgement) -> Bool {
        judgement.waitPolicy.map(ratePolicies.contains) ?? false
    }

    private func usualAlarm(
        of subject: Subject, after date: WallTime, isRate: Bool, at now: Moment
    ) -> WallTime {
        let window = LaunchWindow(subject.request, settings)
        if date > window.wake {
            let isAfter = !window.isGiven || date > window.due
            return isRate && isAfter ? date + (window.wake - window.ripe) : date
        }
        guard window.isGiven || subject.needs.prefetch,
            let choice = momentChoice(of: subject, from: date, conduct: settings.conductStart, at: now),
            let planned = choice.planned(from: 0)
        else { return window.wake }
        let start = situation.start(ofQuarter: choice.first + Int64(planned))
        return max(date, window.ripe, start)
    }

    private func prospects(of subject: Subject, _ outlook: ConditionOutlook, at now: Moment)
        -> MachineProspects
    {
        if let known = prospects[subject.traits] { return known }
        return MachineProspects(outlook, for: subject.silent, in: situation, at: now)
    }

    /// For how many kinds of requests the outlook's scores are kept: 256, as many as there are groups.
    private static let mostProspects = 256

    /// Computes what the outlook says about requests like this one, for all decisions until it changes.
    mutating func prepareProspects(of subject: Subject, at now: Moment) {
        guard let outlook, settings.scoreThreshold > 0, prospects[subject.traits] == nil,
            subject.isDiscretionary, subject.request.kind != .push
        else { return }
        // The values of payloads make any number of traits; what is forgotten is computed again.
        if prospects.count >= Self.mostProspects { prospects = [:] }
        prospects[subject.traits] = MachineProspects(outlook, for: subject.silent, in: situation, at: now)
    }
}

extension Subject {
    fileprivate var traits: MachineTraits {
        MachineTraits(lane: request.lane, kind: request.kind, needs: needs)
    }

    /// The same without texts for people.
    var silent: Subject {
        Subject(
            request: request, needs: needs, bundle: bundle, isDiscretionary: isDiscretionary,
            isRunning: isRunning, isTelling: false)
    }
}

extension PolicyWeights {
    /// The sum of all weights.
    fileprivate var sum: Double {
        externalPower + batteryLevel + network + thermal + deviceActivity + pressure + lowPowerMode + usage
            + conduct + coalescing
    }
}
