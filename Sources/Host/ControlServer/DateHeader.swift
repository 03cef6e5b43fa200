import Synchronization
import TaskModel

/// The text of the `Date` header, which is computed only when a response needs it.
///
/// Hummingbird's own cache updates the text once a second, which would wake an idle host that has no clients.
final class DateHeader: Sendable {
    private let newest = Mutex((second: Int64.min, text: ""))

    /// The text of a time, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    func text(at time: WallTime) -> String {
        let second = time.wholeSeconds
        return newest.withLock { newest in
            if newest.second != second { newest = (second, Self.text(ofSecond: second)) }
            return newest.text
        }
    }

    private static func text(ofSecond second: Int64) -> String {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let utc = CivilTime(second: second)
        let (day, date) = (days[utc.date.weekday], utc.date)
        return "\(day), \(date.day.twoDigits) \(months[date.month - 1]) \(date.year) \(utc.clock) GMT"
    }
}
