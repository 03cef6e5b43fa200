public import TaskModel

extension CalendarExpression {
    /// The first date after a point in time, on the clocks of a zone.
    ///
    /// When clocks go forward, a local time that does not exist counts as the first instant after the gap,
    /// and all times in one gap count once. When clocks go back, a local time that exists twice counts the
    /// first time. An expression whose hour is `*` follows elapsed time instead: nothing moves out of a gap,
    /// and both passes of a repeated hour count.
    ///
    /// - Parameters:
    ///   - time: The result is later than this.
    ///   - zone: The local clock.
    /// - Returns: A whole second; `nil` if none comes within 400 years.
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
