import TaskModel

/// Limits the refresh launches of each bundle per day, and the CPU time of its deferrable launches.
///
/// At midnight, local time, a share of the budget is available (``SchedulerSettings/budgetBurst``). The rest
/// is added during the day, so that it lasts until the evening: in each hour an equal part, and up to four
/// times as much in the hours in which the bundle is usually used.
///
/// The CPU time of launches that require external power does not count and is not limited, because they use
/// no battery.
struct Budget: Policy {
    let name = "Budget"
    let awaited = "more of its daily budget"

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.isDiscretionary else { return [] }
        let (situation, bundle) = (scheduler.situation, subject.request.bundle)
        let (launches, cpu) = Self.accounts(subject, situation, at: now)
        let (mayLaunch, mayUse) = (
            veto(launches, subject, situation, at: now) == nil, veto(cpu, subject, situation, at: now) == nil
        )
        let (limits, share) = (subject.bundle.budget, situation.settings.budgetBurst)
        // The command sets both limits, so it repeats the one that stays.
        var (launchLimit, cpuLimit) = (limits.launchLimit, limits.cpuLimit)
        if subject.request.kind == .appRefresh, !mayLaunch {
            launchLimit = Int(launches.enough(burst: share).rounded(.up))
        }
        if !subject.needs.externalPower, !mayUse {
            cpuLimit = .seconds(Int64(cpu.enough(burst: share).rounded(.up)))
        }
        if launchLimit == limits.launchLimit, cpuLimit == limits.cpuLimit { return [] }
        let options =
            (launchLimit.map { [launches.option, "\($0)"] } ?? [])
            + (cpuLimit.map { [cpu.option, DurationText.format($0)] } ?? [])
        return [
            .command(
                "Raise the budget", ["settings", "budget", "\(bundle)"] + options,
                .event(.budgetChanged(bundle, launches: launchLimit, cpu: cpuLimit)))
        ]
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let (launches, cpu) = Self.accounts(subject, situation, at: now)
        let isRefresh = subject.request.kind == .appRefresh
        if isRefresh, let answer = veto(launches, subject, situation, at: now) { return answer }
        if !subject.needs.externalPower, let answer = veto(cpu, subject, situation, at: now) { return answer }
        let shown = isRefresh ? launches : cpu
        return subject.proceed(
            Rationale(
                quantity: shown.quantity, required: "less than \(shown.text(shown.limit))",
                observed: shown.text(shown.spent)))
    }

    /// The budgets of refresh launches and of CPU time.
    private static func accounts(
        _ subject: Subject, _ situation: Situation, at now: Moment
    ) -> (launches: Account, cpu: Account) {
        let budget = subject.bundle.budget.current(at: now.wall, in: situation)
        let settings = situation.settings
        return (
            Account(
                quantity: "refreshLaunches", option: "--launches", spent: Double(budget.launches), least: 1,
                limit: Double(budget.launchLimit(settings)), text: { "\(Int($0.rounded(.up)))" }),
            Account(
                quantity: "cpuTime", option: "--cpu", spent: budget.cpu.inSeconds, least: 0,
                limit: budget.cpuLimit(settings).inSeconds,
                text: { Duration.milliseconds(Int64($0 * 1000)).text })
        )
    }

    /// One of the two budgets.
    private struct Account {
        let quantity: String
        let option: String
        let spent: Double
        /// What is available at midnight, even of a small budget.
        let least: Double
        /// The budget of the whole day.
        let limit: Double
        let text: (Double) -> String

        /// A budget whose burst alone is more than was spent.
        func enough(burst: Double) -> Double { (spent + 1) / max(0.05, burst) }

        /// An amount as the command line takes it, rounded up.
        func argument(_ amount: Double) -> String {
            let whole = Int64(amount.rounded(.up))
            return least > 0 ? "\(whole)" : DurationText.format(.seconds(whole))
        }
    }

    private func veto(
        _ account: Account, _ subject: Subject, _ situation: Situation, at now: Moment
    ) -> Answer? {
        let share = situation.settings.budgetBurst
        // At least one launch, or a small budget would begin at noon.
        let burst = max(account.limit * share, min(account.least, account.limit))
        let today = situation.localDay(now.wall)
        if account.spent >= account.limit {
            return exhausted(
                account, subject, burst: share, until: situation.start(ofDay: today + 1), available: nil)
        }
        // The hours of use matter only to the few requests that have spent the burst.
        if account.spent < burst { return nil }
        let pace = DailyPace(of: subject.bundle.usage, on: today, in: situation)
        let rest = account.limit - burst
        let available = burst + rest * pace.share(until: now.wall)
        if account.spent < available { return nil }
        // One millisecond later, because more must be available than was spent.
        let date = pace.time(of: (account.spent - burst) / rest) + .milliseconds(1)
        return exhausted(
            account, subject, burst: share, until: max(date, now.wall + .milliseconds(1)),
            available: available)
    }

    /// A veto until more of the budget is available; `available` is `nil` if all of the day's budget is
    /// spent.
    private func exhausted(
        _ account: Account, _ subject: Subject, burst: Double, until next: WallTime, available: Double?
    ) -> Answer {
        let whole = account.text(account.limit)
        let enough = account.enough(burst: burst)
        return subject.wait(
            for: .bundle(subject.request.bundle), until: next,
            Rationale(
                quantity: account.quantity,
                required: available.map {
                    "less than \(account.text($0)) at this time, and \(whole) in a day"
                }
                    ?? "less than \(whole)",
                observed: account.text(account.spent), earliestChange: next,
                remedy:
                    "Raise the budget: bgtask settings budget \(subject.request.bundle) \(account.option) \(account.argument(enough))"
            ))
    }
}
