import TaskModel

/// Holds all requests while the machine prepares to sleep, and stops deferrable launches so that they can
/// save their state.
///
/// It also applies to launches by `bgtask launch`, because the machine would sleep before they got anywhere.
struct SystemSleep: Policy {
    let name = "SystemSleep"
    let isPermission = true
    let reach = Reach.machine
    let endReason: Reason? = .systemSleep

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let since = situation.sleepSince else { return subject.proceed() }
        func rationale() -> Rationale {
            Rationale(
                quantity: "systemSleep", required: "awake", observed: "about to sleep",
                remedy: "Wait until the machine has woken. The host then decides again")
        }
        return subject.isRunning && subject.isDiscretionary
            ? subject.stop(until: .sleep, since: since, rationale())
            : subject.wait(for: .sleep, since: since, rationale())
    }
}
