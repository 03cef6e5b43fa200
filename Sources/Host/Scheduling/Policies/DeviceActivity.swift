import TaskModel

/// Holds processing requests until the device is idle, and stops processing launches when the user returns.
///
/// Other deferrable requests only get a higher score on an idle device.
///
/// While it is unknown whether a user is active, no processing request starts, but launches under way
/// continue. If the manifest or the operator ignores device activity, the policy does not apply to
/// processing.
struct DeviceActivity: Policy {
    let name = "DeviceActivity"
    let reach = Reach.machine
    let endReason: Reason? = .userReturned

    func weight(_ weights: PolicyWeights) -> Double { weights.deviceActivity }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let since = situation.since.user
        let user = situation.conditions.user
        var observed: String {
            user.value?.text ?? "in an unknown state (the source of user activity does not answer)"
        }
        if subject.needs.idleDevice, user != .known(.idle) {
            func rationale() -> Rationale {
                Rationale(
                    quantity: "deviceActivity", required: "idle for 5 min", observed: observed,
                    remedy: user == .known(.active)
                        ? "Leave the device alone for 5 min"
                        : "Repair the source (see bgtask conditions), or write 'deviceActivity: ignore' in the manifest"
                )
            }
            return user == .known(.active)
                ? subject.stop(until: .user, since: since, rationale())
                : subject.wait(for: .user, since: since, rationale())
        }
        let isIgnored = subject.request.kind == .processing && !subject.needs.idleDevice
        if isIgnored { return subject.proceed() }
        return subject.proceed(
            score: user == .known(.idle) ? 1 : situation.settings.scores.userActive, since: since,
            Rationale(
                quantity: "deviceActivity", required: "idle, by preference", observed: observed))
    }
}

extension UserCondition {
    /// The state for people: `idle` or `in use`.
    var text: String { self == .active ? "in use" : rawValue }
}
