import LinuxSystem
import TaskModel

/// Whether the user is active, from logind: idle when no session has had input for five minutes.
///
/// logind sends signals only for graphical sessions. For terminal sessions, it only answers requests. While a
/// user is active, this source therefore asks again every five minutes.
struct LogindSource: BusSource {
    /// The time without input after which the user counts as idle: 5 min (Documentation/Conditions.md).
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

    /// How long all sessions have been idle; without sessions, the time since 1970, so the device is idle.
    private func idleFor(_ properties: [BusObject: [String: BusValue]], _ now: Moment) -> Duration {
        let manager = properties[Self.manager] ?? [:]
        // The monotonic time is preferred, because it does not jump; some replacements of logind do not
        // have it.
        if let since = manager["IdleSinceHintMonotonic"]?.integer, since > 0 {
            return now.monotonic - .microseconds(since)
        }
        let since = manager["IdleSinceHint"]?.integer ?? 0
        return now.wall.sinceEpoch - .microseconds(since)
    }
}
