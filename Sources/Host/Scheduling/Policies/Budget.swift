import TaskModel

/// Limits the refresh launches of each bundle per day, and the CPU time of its deferrable launches.
///
/// The budget is refilled at midnight, local time.
///
/// The CPU time of launches that require external power does not count and is not limited, because they use
/// no battery.
struct Budget: Policy {
    let name = "Budget"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let request = subject.request
        let budget = subject.bundle.budget.current(at: now.wall, in: situation)
        let refill = situation.start(ofDay: situation.localDay(now.wall) + 1)
        func exhausted(_ quantity: String, _ spent: String, _ limit: String, _ option: String) -> Answer {
            subject.wait(
                for: .bundle(request.bundle), until: refill,
                Rationale(
                    quantity: quantity, required: "less than \(limit)",
                    observed: "\(spent), the whole budget of the day", earliestChange: refill,
                    remedy: "Raise the budget: bgtask settings budget \(request.bundle) \(option)"))
        }
        let launches = budget.launchLimit(situation.settings)
        if request.kind == .appRefresh && budget.launches >= launches {
            return exhausted(
                "refreshLaunches", "\(budget.launches)", "\(launches)",
                "--launches \(2 * max(1, launches, budget.launches))")
        }
        let cpu = budget.cpuLimit(situation.settings)
        if budget.cpu >= cpu && !subject.needs.externalPower {
            return exhausted(
                "cpuTime", budget.cpu.text, cpu.text,
                "--cpu \(DurationText.format(max(.seconds(60), cpu, budget.cpu).inWholeMinutes * 2))")
        }
        return subject.proceed(
            Rationale(
                quantity: request.kind == .appRefresh ? "refreshLaunches" : "cpuTime",
                required: request.kind == .appRefresh
                    ? "less than \(launches)" : "less than \(cpu.text)",
                observed: request.kind == .appRefresh
                    ? "\(budget.launches)" : budget.cpu.text))
    }
}

extension Duration {
    /// The duration rounded up to whole minutes.
    fileprivate var inWholeMinutes: Duration { .seconds((components.seconds + 59) / 60 * 60) }
}
