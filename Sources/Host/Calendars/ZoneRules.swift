public import TaskModel

/// The local time of a time zone: a sequence of periods, each with its offset from UTC.
public struct ZoneRules: Equatable, Sendable {
    /// A period with one offset from UTC.
    struct Span: Equatable {
        /// The first second of the period, in seconds since the epoch; `nil` if it has no beginning.
        var start: Int64?
        /// The first second after the period, in seconds since the epoch; `nil` if it has no end.
        var end: Int64?
        /// The offset from UTC in seconds; positive east of Greenwich.
        var offset: Int
        /// The name of the local time in this period, such as `CET` or `+0545`.
        var abbreviation: String
    }

    struct LocalType: Equatable, Sendable {
        var offset: Int
        var abbreviation: String
    }

    struct Transition: Equatable, Sendable {
        var at: Int64
        var type: LocalType
    }

    /// The zone's name, such as `Europe/Berlin`; `local` if the machine's zone has no name.
    public let name: String
    /// The local time before the first transition.
    let initial: LocalType
    /// The transitions in order of time.
    let transitions: [Transition]
    /// The rule for times after the last transition; `nil` means that they keep its local time.
    let rule: PosixRule?

    /// Coordinated universal time; it needs no zone database.
    public static let utc = ZoneRules(
        name: "UTC", initial: LocalType(offset: 0, abbreviation: "UTC"), transitions: [], rule: nil)

    /// The offset of local time from UTC at a time; positive if local time is ahead.
    public func offset(at time: WallTime) -> Duration {
        .seconds(span(at: time.sinceEpoch.components.seconds).offset)
    }

    /// The short name of local time at a time, such as `CET` or `+0545`.
    public func abbreviation(at time: WallTime) -> String {
        span(at: time.sinceEpoch.components.seconds).abbreviation
    }

    /// The period that contains a second since the epoch.
    func span(at time: Int64) -> Span {
        if let last = transitions.last, time >= last.at {
            return ruleSpan(at: time, from: last.at, else: last.type)
        }
        if transitions.isEmpty { return ruleSpan(at: time, from: nil, else: initial) }
        // A binary search for the first transition after `time`.
        var (low, high) = (0, transitions.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].at > time { high = middle } else { low = middle + 1 }
        }
        let before = low > 0 ? transitions[low - 1] : nil
        let type = before?.type ?? initial
        return Span(
            start: before?.at, end: transitions[low].at, offset: type.offset, abbreviation: type.abbreviation)
    }

    private func ruleSpan(at time: Int64, from start: Int64?, else type: LocalType) -> Span {
        guard let rule else {
            return Span(start: start, end: nil, offset: type.offset, abbreviation: type.abbreviation)
        }
        let day = (time + Int64(rule.standard.offset)).floorDivided(by: CivilDate.secondsPerDay)
        let year = CivilDate(dayNumber: day).year
        let known = rule.transitions(in: (year - 1)...(year + 2)).filter { $0.at > start ?? .min }
        guard let next = known.firstIndex(where: { $0.at > time }) else {
            return Span(
                start: start, end: nil, offset: rule.standard.offset,
                abbreviation: rule.standard.abbreviation)
        }
        // The last recorded local time holds until the first transition of the rule.
        let current = next > 0 ? known[next - 1] : nil
        let holding = current?.type ?? (start == nil ? rule.standard : type)
        return Span(
            start: current?.at ?? start, end: known[next].at, offset: holding.offset,
            abbreviation: holding.abbreviation)
    }

    /// The end of the local times that clocks had shown before a period began.
    ///
    /// Times of the period that are earlier than this end are repeats.
    func localEnd(before span: Span) -> Int64 {
        guard let start = span.start else { return .min }
        var furthest = Int64.min
        var end = start
        // No clock was ever put back by more than a day.
        for _ in 0..<4 where end > start - 2 * CivilDate.secondsPerDay {
            let earlier = self.span(at: end - 1)
            furthest = max(furthest, end + Int64(earlier.offset))
            guard let next = earlier.start else { break }
            end = next
        }
        return furthest
    }
}
