import Calendars
import Foundation
import TaskModel

/// Dates in the forms that tests use: in UTC, or as text in a zone's local time.
enum Dates {
    static func utc(_ text: String) -> WallTime {
        let date = try? Date(text + ":00Z", strategy: .iso8601)
        return WallTime(sinceEpoch: .seconds(Int64((date ?? .distantPast).timeIntervalSince1970)))
    }

    /// The next dates after a UTC date, in the zone's local time.
    static func next(
        _ count: Int, of expression: String, after start: String, in zone: String
    ) throws -> [String] {
        let expression = try CalendarExpression(expression)
        let rules = try ZoneDatabase.machine.zone(named: zone)
        var dates: [String] = []
        var time = utc(start)
        while dates.count < count, let next = expression.next(after: time, in: rules) {
            dates.append(rules.text(of: next))
            time = next
        }
        return dates
    }
}
