import TaskModel

/// Holds a request outside the part of the day that its manifest gives (`between`), and stops its launch when
/// that part ends.
struct Between: Policy {
    let name = "Between"
    let endReason: Reason? = .windowEnded

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let window = subject.needs.constraints?.between else { return subject.proceed() }
        let (isOpen, until) = situation.state(of: window, at: now.wall)
        func rationale(_ change: WallTime?, _ remedy: String?) -> Rationale {
            Rationale(
                quantity: "localTime",
                required: "from \(DailyWindow.text(of: window.start)) to \(DailyWindow.text(of: window.end))",
                observed: DailyWindow.text(of: situation.localMinute(now.wall)), earliestChange: change,
                remedy: remedy)
        }
        if isOpen { return subject.proceed(rationale(nil, nil)) }
        return subject.stop(
            until: .time, orDate: until,
            rationale(until, situation.remedy("Wait", orLaunch: subject)))
    }
}

extension Situation {
    /// Whether a part of the day has begun and not ended at a time, and when that changes next.
    func state(of window: DailyWindow, at time: WallTime) -> (isOpen: Bool, until: WallTime) {
        let today = (time + offset(at: time)).wholeSeconds.floorDivided(by: 86_400)
        let days = window.start < window.end ? 0 : Int64(86_400)
        var next = WallTime.distantFuture
        // The window of yesterday can last over midnight, and a change of the clocks can move the local day.
        for day in (today - 2)...(today + 3) {
            let midnight = day * 86_400
            let start = instants(ofLocalSecond: midnight + Int64(window.start) * 60).lowerBound
            let end = instants(ofLocalSecond: midnight + days + Int64(window.end) * 60).upperBound
            // Where the clocks skip the whole window, it is empty.
            guard start < end else { continue }
            if start <= time, time < end { return (true, end) }
            if start > time { next = min(next, start) }
        }
        return (false, next)
    }

    /// In which local quarters of an hour the clock lets a request with these constraints start.
    ///
    /// A quarter is open if the clock lets the request start at its beginning or, for the first one, at
    /// `time`.
    ///
    /// - Parameters:
    ///   - quarters: The quarters.
    ///   - time: A time in the first quarter.
    ///   - constraints: The constraints; `when` is false only if the clock alone makes it false.
    /// - Returns: A value for each quarter.
    func openings(
        inQuarters quarters: ClosedRange<Int64>, after time: WallTime, _ constraints: TaskConstraints?
    ) -> [Bool] {
        guard let constraints, constraints.isTimed else { return quarters.map { _ in true } }
        let expression = constraints.when.flatMap { $0.dependsOnClock ? $0 : nil }
        var state = constraints.between.map { self.state(of: $0, at: time) }
        return quarters.map { quarter in
            let start = max(time, start(ofQuarter: quarter))
            if let window = constraints.between, let known = state, start >= known.until {
                state = self.state(of: window, at: start)
            }
            if state?.isOpen == false { return false }
            let value = expression?.value { fact in
                if case .machine(let machine) = fact, machine.isOfClock {
                    self.value(of: fact, at: start)
                } else {
                    nil
                }
            }
            return value != false
        }
    }

    /// The first and the last time at which clocks show a local time, given in seconds since 1970-01-01.
    ///
    /// If clocks never show it, because they go forward, both are the instant at which they do.
    private func instants(ofLocalSecond second: Int64) -> ClosedRange<WallTime> {
        var offsets = [localOffset]
        for change in localTimeChanges { offsets += [change.before, change.after] }
        let local = WallTime(sinceEpoch: .seconds(second))
        let times = offsets.map { WallTime(sinceEpoch: local.sinceEpoch - $0) }
        let real = zip(times, offsets).filter { offset(at: $0) == $1 }.map(\.0)
        if let first = real.min(), let last = real.max() { return first...last }
        let gap = localTimeChanges.first { local >= $0.at + $0.before && local < $0.at + $0.after }
        let time = gap?.at ?? WallTime(sinceEpoch: local.sinceEpoch - localOffset)
        return time...time
    }

    /// The minute of the local day, 0 through 1439.
    func localMinute(_ time: WallTime) -> Int {
        Int((time + offset(at: time)).wholeSeconds.floorRemainder(by: 86_400) / 60)
    }

    /// When the clock alone can next stop a launch with these needs, on CLOCK_BOOTTIME; `nil` if it can't.
    func nextCheck(of needs: Needs, at now: Moment) -> Duration? {
        guard let constraints = needs.constraints else { return nil }
        var next: [WallTime] = []
        if let window = constraints.between {
            let state = state(of: window, at: now.wall)
            if state.isOpen { next.append(state.until) }
        }
        if let when = constraints.when, when.dependsOnClock,
            let change = nextChange(of: when, after: now.wall)
        {
            next.append(change)
        }
        return next.min().map { now.boot + ($0 - now.wall) }
    }

    /// The beginning of the next hour of local time, or the next change of the clocks.
    func nextLocalHour(after time: WallTime) -> WallTime {
        let seconds = (time + offset(at: time)).wholeSeconds
        let hour = (seconds.floorDivided(by: 3600) + 1) * 3600
        let next = WallTime(sinceEpoch: .seconds(hour) - offset(at: time))
        return localTimeChanges.map(\.at).filter { $0 > time && $0 < next }.min() ?? next
    }
}

extension TaskConstraints {
    /// Whether the clock alone can make a launch stop.
    var isTimed: Bool { between != nil || when?.dependsOnClock == true }

    /// The constraints of one request on the machine and the clock; `nil` if there are none.
    func needs(of request: TaskRequest) -> TaskConstraints? {
        var needs = self
        needs.conflicts = []
        if let keys = when?.payloadKeys, !keys.isEmpty {
            let payload = PayloadFacts(request.submission.payload, keys: keys)
            needs.when = when?.resolved { payload[$0] }
        }
        return needs.isEmpty ? nil : needs
    }
}
