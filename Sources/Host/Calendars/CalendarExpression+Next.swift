public import TaskModel

extension CalendarExpression {
    /// The first matching date after a point in time, in the local time of a zone.
    ///
    /// If the hour of the expression is not `*`, a change of the clocks has these effects. When clocks go
    /// forward, a matching local time that does not exist counts as the first instant after the gap; all such
    /// times in one gap count as one date. When clocks go back, only the first pass of a repeated local time
    /// counts.
    ///
    /// If the hour is `*`, the expression follows elapsed time: times in a gap do not count, and both passes
    /// of a repeated hour do.
    ///
    /// - Parameters:
    ///   - time: The result is later than this time.
    ///   - zone: The time zone of the expression.
    /// - Returns: A date without a fraction of a second; `nil` if no date matches within 400 years.
    public func next(after time: WallTime, in zone: ZoneRules) -> WallTime? {
        let earliest = time.wholeSeconds + 1
        let limit = earliest + 400 * 366 * CivilDate.secondsPerDay
        var from = earliest
        while from < limit {
            let span = zone.span(at: from)
            let offset = Int64(span.offset)
            var localFrom = from + offset
            if !isEveryHour, let start = span.start {
                let covered = zone.localEnd(before: span)
                let isGap = covered < start + offset
                if isGap, start >= from, firstMatch(from: covered, before: start + offset) != nil {
                    return WallTime(sinceEpoch: .seconds(start))
                }
                localFrom = max(localFrom, covered)
            }
            let end = min(span.end ?? limit, limit)
            if let found = firstMatch(from: localFrom, before: end + offset) {
                return WallTime(sinceEpoch: .seconds(found - offset))
            }
            if let last = years?.last,
                CivilDate(dayNumber: end.floorDivided(by: CivilDate.secondsPerDay)).year > last + 1
            {
                return nil
            }
            from = end
        }
        return nil
    }
}
