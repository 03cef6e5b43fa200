import LinuxSystem
import TaskModel

/// Whether the machine is in use, from logind: idle when no session has had input for five minutes.
///
/// logind sends signals for graphical sessions. It sends none for terminal sessions and only answers when
/// asked. While a user is active, this source therefore asks again after five minutes, when the activity
/// could have ended.
struct LogindSource: BusSource {
    /// How long without input counts as idle: 5 min (Documentation/Conditions.md).
    static let idleAfter = Duration.seconds(300)
    static let manager = BusObject(
        path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager")

    let key = ConditionKey.user
    let name = "logind"
    let service = "org.freedesktop.login1"
    let objects = [LogindSource.manager]

    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer {
        guard let isIdle = properties[Self.manager]?["IdleHint"]?.flag else { return .failed }
        guard isIdle else { return .value(.user(.active)) }
        return .value(.user(idleFor(properties, now) >= Self.idleAfter ? .idle : .active))
    }

    func nextLook(_ properties: [BusObject: [String: BusValue]], after now: Moment) -> Duration? {
        guard let isIdle = properties[Self.manager]?["IdleHint"]?.flag else { return nil }
        guard isIdle else { return nil }
        let left = Self.idleAfter - idleFor(properties, now)
        return left > .zero ? now.boot + left : nil
    }

    func validity(of properties: [BusObject: [String: BusValue]]) -> Duration? {
        properties[Self.manager]?["IdleHint"]?.flag == false ? Self.idleAfter : nil
    }

    /// How long all sessions have been idle; without sessions, the longest duration.
    private func idleFor(_ properties: [BusObject: [String: BusValue]], _ now: Moment) -> Duration {
        let manager = properties[Self.manager] ?? [:]
        // The monotonic clock does not jump; it is missing in some stand-ins of logind.
        if let since = manager["IdleSinceHintMonotonic"]?.integer, since > 0 {
            return now.monotonic - .microseconds(since)
        }
        let since = manager["IdleSinceHint"]?.integer ?? 0
        return now.wall.sinceEpoch - .microseconds(since)
    }
}
