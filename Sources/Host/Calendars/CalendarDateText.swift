public import TaskModel

extension ZoneRules {
    /// A date as people of the zone read it: `Mon 2026-03-30 02:00:00 CEST (+02:00)`.
    public func text(of time: WallTime) -> String {
        let (seconds, attoseconds) = time.sinceEpoch.components
        let second = attoseconds < 0 ? seconds - 1 : seconds
        let span = span(at: second)
        let local = second + Int64(span.offset)
        let day = CivilDay(number: local.flooredQuotient(CivilDay.secondsPerDay))
        let clock = local.remainder(dividingBy: CivilDay.secondsPerDay)
        let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][day.weekday]
        let date = "\(day.year)-\(Self.padded(day.month))-\(Self.padded(day.day))"
        let zone = abs(span.offset)
        let offset =
            (span.offset < 0 ? "-" : "+") + Self.padded(zone / 3600) + ":" + Self.padded(zone / 60 % 60)
        let name = span.abbreviation.first?.isLetter == true ? "\(span.abbreviation) (\(offset))" : offset
        return
            "\(weekday) \(date) \(Self.padded(clock / 3600)):\(Self.padded(clock / 60 % 60)):\(Self.padded(clock % 60)) \(name)"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
