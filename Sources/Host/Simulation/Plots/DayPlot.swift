import Scheduling
public import TaskModel

/// A plot of a period: rows for the conditions of the machine, and below them rows for launches.
public struct DayPlot: Sendable {
    /// A part of a row, with its level.
    struct Span: Equatable, Sendable {
        var start: WallTime
        var end: WallTime
        /// The level, from 0 (nothing) to 3 (the most); for launches, 3 means not successful.
        var level: Int
        /// The text for a tooltip.
        var label: String
    }

    /// One line of the plot.
    struct Row: Equatable, Sendable {
        enum Sort: Equatable, Sendable { case power, network, heat, user, launches }
        var sort: Sort
        var name: String
        var spans: [Span]
    }

    let start: WallTime
    let end: WallTime
    let title: String
    let rows: [Row]
    /// The battery's charge over time; empty without a battery.
    let battery: [(at: WallTime, percent: Int)]

    /// Creates a plot of a period.
    ///
    /// - Parameters:
    ///   - tally: The result of a run with ``Tally/Detail/waits``; others contain no conditions.
    ///   - start: The left edge of the plot.
    ///   - end: The right edge of the plot.
    ///   - title: The text above the plot.
    public init(_ tally: Tally, from start: WallTime, until end: WallTime, title: String) {
        (self.start, self.end, self.title) = (start, end, title)
        var entries = tally.conditions.filter { $0.at < end }
        if let first = entries.lastIndex(where: { $0.at <= start }) { entries.removeFirst(first) }
        func spans(_ value: (Conditions) -> (level: Int, label: String)) -> [Span] {
            entries.indices.compactMap { index in
                let entry = entries[index]
                guard let conditions = entry.conditions else { return nil }
                let next = index + 1 < entries.count ? entries[index + 1].at : end
                let (level, label) = value(conditions)
                return Span(start: max(start, entry.at), end: min(end, next), level: level, label: label)
            }
        }
        var rows = [
            Row(sort: .power, name: "power", spans: spans(Self.power)),
            Row(sort: .network, name: "network", spans: spans(Self.network)),
            Row(sort: .heat, name: "heat", spans: spans(Self.heat)),
            Row(sort: .user, name: "user", spans: spans { ($0.user == .known(.active) ? 3 : 0, "user") }),
        ]
        var launches: [TaskIdentifier: [Span]] = [:]
        for launch in tally.launches where launch.start < end && launch.end ?? end > start {
            let label =
                launch.outcome.map { $0.rawValue + (launch.expiration.map { ", \($0.rawValue)" } ?? "") }
                ?? "runs"
            launches[launch.identifier, default: []].append(
                Span(
                    start: max(start, launch.start), end: min(end, launch.end ?? end),
                    level: launch.outcome == .succeeded || launch.outcome == nil ? 1 : 3, label: label))
        }
        rows += launches.sorted { $0.key < $1.key }.map {
            Row(sort: .launches, name: $0.key.rawValue, spans: $0.value)
        }
        self.rows = rows
        battery = entries.compactMap { entry in
            entry.conditions?.power.value?.batteryPercent.map { (max(start, entry.at), $0) }
        }
    }

    private static func power(_ conditions: Conditions) -> (Int, String) {
        guard let power = conditions.power.value else { return (0, "power unknown") }
        let charge = power.batteryPercent.map { ", \($0) %" } ?? ""
        return power.externalPower ? (3, "external power\(charge)") : (1, "battery\(charge)")
    }

    private static func network(_ conditions: Conditions) -> (Int, String) {
        switch conditions.network.value {
        case .unmetered: (3, "unmetered")
        case .metered: (2, "metered")
        case .constrained: (1, "constrained")
        case .some(.none): (0, "no network")
        case nil: (0, "network unknown")
        }
    }

    private static func heat(_ conditions: Conditions) -> (Int, String) {
        switch conditions.thermal.value {
        case .nominal: (0, "cool")
        case .fair: (1, "fair")
        case .serious: (2, "serious")
        case .critical: (3, "critical")
        case nil: (0, "heat unknown")
        }
    }
}
