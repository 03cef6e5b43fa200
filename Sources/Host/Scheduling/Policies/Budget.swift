import TaskModel

/// Limits the refresh launches of each bundle per day, and the CPU time of its deferrable launches.
///
/// At midnight, local time, a share of the budget is available (``SchedulerSettings/budgetBurst``). The rest
/// is added during the day, so that it lasts until the evening: in each hour an equal part, and up to four
/// times as much in the hours in which the bundle is usually used. It is added each quarter of an hour, for
/// all bundles at the same time, so that one alarm serves all requests that wait for it.
///
/// The CPU time of launches that require external power does not count and is not limited, because they use
/// no battery.
struct Budget: Policy {
    let name = "Budget"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let budget = subject.bundle.budget.current(at: now.wall, in: situation)
        let settings = situation.settings
        let launches = Account(
            quantity: "refreshLaunches", option: "--launches", spent: Double(budget.launches), least: 1,
            limit: Double(budget.launchLimit(settings)), text: { "\(Int($0.rounded(.up)))" })
        let cpu = Account(
            quantity: "cpuTime", option: "--cpu", spent: budget.cpu.inSeconds, least: 0,
            limit: budget.cpuLimit(settings).inSeconds,
            text: { Duration.milliseconds(Int64($0 * 1000)).text })
        let isRefresh = subject.request.kind == .appRefresh
        if isRefresh, let answer = veto(launches, subject, situation, at: now) { return answer }
        if !subject.needs.externalPower, let answer = veto(cpu, subject, situation, at: now) { return answer }
        let shown = isRefresh ? launches : cpu
        return subject.proceed(
            Rationale(
                quantity: shown.quantity, required: "less than \(shown.text(shown.limit))",
                observed: shown.text(shown.spent)))
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
                account, subject, share: share, until: situation.start(ofDay: today + 1), available: nil)
        }
        // The hours of use matter only to the few requests that have spent the burst.
        if account.spent < burst { return nil }
        let pace = DailyPace(of: subject.bundle.usage, on: today, in: situation)
        let rest = account.limit - burst
        let quarter = situation.localQuarter(now.wall)
        let available = burst + rest * pace.share(until: situation.start(ofQuarter: quarter))
        if account.spent < available { return nil }
        // More must be available than was spent, so a date at the beginning of a quarter is too early.
        let enough = situation.localQuarter(pace.time(of: (account.spent - burst) / rest))
        return exhausted(
            account, subject, share: share, until: situation.start(ofQuarter: max(quarter, enough) + 1),
            available: available)
    }

    /// A veto until more of the budget is available.
    ///
    /// `available` is `nil` if all of the day's budget is spent. `share` is the part of the budget that is
    /// available at midnight.
    private func exhausted(
        _ account: Account, _ subject: Subject, share: Double, until next: WallTime, available: Double?
    ) -> Answer {
        let whole = account.text(account.limit)
        // A budget whose burst alone is more than was spent.
        let enough = (account.spent + 1) / max(0.05, share)
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
