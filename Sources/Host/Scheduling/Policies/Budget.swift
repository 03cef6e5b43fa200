import TaskModel

/// What a bundle may spend in a day: refresh launches, and CPU time of deferrable work; refilled at local
/// midnight.
///
/// Work that requires external power, and has it, neither spends CPU time of the budget nor waits for it, as
/// its CPU monitor is relaxed too: a night on the charger costs no battery.
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
                "refreshLaunches", "\(budget.launches)", "\(launches)", "--launches N")
        }
        let cpu = budget.cpuLimit(situation.settings)
        if budget.cpu >= cpu && !subject.needs.externalPower {
            return exhausted("cpuTime", budget.cpu.text, cpu.text, "--cpu DURATION")
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
