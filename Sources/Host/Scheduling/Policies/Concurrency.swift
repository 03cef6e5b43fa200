import TaskModel

/// Limits the number of launches under way at the same time, for each lane.
///
/// The limit per bundle, ``SchedulerSettings/discretionarySlotsPerBundle``, is not enforced here. It only
/// affects the order of requests: bundles below it get free slots first.
struct Concurrency: Policy {
    let name = "Concurrency"

    /// The remedy when a setting allows no launch at all, so that waiting does not help.
    static func remedy(ofNone setting: String, at limit: Int) -> String {
        "Set scheduling.\(setting) to 1 or more in the host's configuration; "
            + "with \(limit), no such launch ever starts"
    }

    /// The quantity that a lane limits, and the setting with the limit.
    static func names(of lane: Lane) -> (quantity: String, setting: String) {
        switch lane {
        case .continued: ("continuedLaunches", "continuedSlots")
        case .urgent: ("urgentLaunches", "urgentSlots")
        case .app: ("appLaunches", "appSlots")
        case .short: ("shortLaunches", "shortSlots")
        case .long, .simulated: ("discretionaryLaunches", "discretionarySlots")
        }
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let lane = subject.request.lane
        let (quantity, setting) = Self.names(of: lane)
        let (limit, count) = (situation.slots(of: lane), situation.occupancy.slots(of: lane).count)
        guard count >= limit else {
            return subject.proceed(
                Rationale(quantity: quantity, required: "less than \(limit)", observed: "\(count)"))
        }
        return subject.wait(
            for: .slot, since: situation.occupancy.since,
            Rationale(
                quantity: quantity, required: "less than \(limit)", observed: "\(count)",
                remedy: limit > 0
                    ? "Wait until one ends, or stop one: bgtask expire IDENTIFIER"
                    : Self.remedy(ofNone: setting, at: limit)))
    }
}
