import ControlWire
import Synchronization
import TaskModel

/// The text of the `Date` header, made when a response needs it.
///
/// Hummingbird's own cache renews it once a second, which would wake an idle host that has no clients.
final class DateHeader: Sendable {
    private let newest = Mutex((second: Int64.min, text: ""))

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    func text(at time: WallTime) -> String {
        let second = (time.milliseconds - (time.milliseconds % 1000 + 1000) % 1000) / 1000
        return newest.withLock { newest in
            if newest.second != second { newest = (second, Self.text(ofSecond: second)) }
            return newest.text
        }
    }

    private static func text(ofSecond second: Int64) -> String {
        // 1970-01-01 was a Thursday.
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = Int((second / 86_400 % 7 + (second < 0 && second % 86_400 != 0 ? -1 : 0) + 7) % 7)
        // 1994-11-06T08:49:37.000Z
        let text = Timestamp(WallTime(milliseconds: second * 1000)).description
        let parts = text.split { "-T.".contains($0) }
        guard parts.count > 3, let month = Int(parts[1]), months.indices.contains(month - 1) else {
            return text
        }
        return "\(days[day]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }
}
