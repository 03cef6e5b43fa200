public import TaskModel

extension ZoneRules {
    /// A date as people in the zone read it: `Mon 2026-03-30 02:00:00 CEST (+02:00)`.
    public func text(of time: WallTime) -> String {
        let span = span(at: time.wholeSeconds)
        let local = CivilTime(second: time.wholeSeconds + Int64(span.offset))
        let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][local.date.weekday]
        let zone = abs(span.offset)
        let offset = "\(span.offset < 0 ? "-" : "+")\((zone / 3600).twoDigits):\((zone / 60 % 60).twoDigits)"
        let name = span.abbreviation.first?.isLetter == true ? "\(span.abbreviation) (\(offset))" : offset
        return "\(weekday) \(local.date) \(local.clock) \(name)"
    }
}
