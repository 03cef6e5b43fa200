import TaskModel

/// How many launches run at once, by lane.
///
/// That a bundle has one while others wait is a matter of order: free slots go to bundles without a launch first.
struct Concurrency: Policy {
    let name = "Concurrency"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let (settings, occupancy) = (situation.settings, situation.occupancy)
        let lane = subject.request.lane
        let (quantity, limit, count): (String, Int, Int) =
            switch lane {
            case .continued: ("continuedLaunches", settings.continuedSlots, occupancy.continued)
            case .urgent: ("urgentLaunches", settings.urgentSlots, occupancy.urgent)
            case .app: ("appLaunches", settings.appSlots, occupancy.apps)
            case .discretionary, .simulated:
                ("discretionaryLaunches", settings.discretionarySlots, occupancy.discretionary)
            }
        guard count >= limit else {
            return subject.proceed(
                Rationale(quantity: quantity, required: "fewer than \(limit)", observed: "\(count)"))
        }
        return subject.wait(
            for: .slot, since: occupancy.since,
            Rationale(
                quantity: quantity, required: "fewer than \(limit)", observed: "\(count)",
                remedy: "Wait for one to end, or end one: bgtask expire IDENTIFIER"))
    }
}
