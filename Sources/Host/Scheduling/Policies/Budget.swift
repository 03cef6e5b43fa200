import TaskModel

/// Limits the refresh launches of each bundle per day, and the CPU time of its deferrable launches.
///
/// At midnight, local time, a share of the budget is available (``SchedulerSettings/budgetBurst``). The rest
/// is added during the day, so that it lasts until the evening: in each hour an equal part, and up to four
/// times as much in the hours in which the bundle is usually used. It is added each quarter of an hour, for
/// all bundles at the same time, so that one alarm serves all requests that wait for it.
///
/// The budget of launches grows in fractions, and a launch may begin when half of one has been added. If it
/// could begin at the first fraction, the last launch of a day would begin as long before midnight, when the
/// next day's share comes, as two launches are apart; so it is half as long.
///
/// The CPU time of launches that require external power does not count and is not limited, because they use
/// no battery.
struct Budget: Policy {
    let name = "Budget"
    let awaited = "more of its daily budget"

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.isDiscretionary else { return [] }
        let (situation, bundle) = (scheduler.situation, subject.request.bundle)
        let budget = subject.bundle.budget.current(at: now.wall, in: situation)
        let settings = situation.settings
        let (launches, cpu) = (Account(launches: budget, settings), Account(cpu: budget, settings))
        let (mayLaunch, mayUse) = (
            veto(launches, subject, situation, at: now) == nil, veto(cpu, subject, situation, at: now) == nil
        )
        let limits = subject.bundle.budget
        // The command sets both limits and the share, so it repeats those that stay.
        var (launchLimit, cpuLimit) = (limits.launchLimit, limits.cpuLimit)
        if subject.request.kind == .appRefresh, !mayLaunch {
            launchLimit = Int(enough(launches, subject, situation, at: now))
        }
        if !subject.needs.externalPower, !mayUse {
            cpuLimit = .seconds(enough(cpu, subject, situation, at: now))
        }
        if launchLimit == limits.launchLimit, cpuLimit == limits.cpuLimit { return [] }
        let options =
            (launchLimit.map { [launches.option, "\($0)"] } ?? [])
            + (cpuLimit.map { [cpu.option, DurationText.format($0)] } ?? [])
            + (limits.burst.map { ["--burst", "\($0)"] } ?? [])
        return [
            .command(
                "Raise the budget", ["settings", "budget", "\(bundle)"] + options,
                .event(.budgetChanged(bundle, launches: launchLimit, cpu: cpuLimit, burst: limits.burst)))
        ]
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let budget = subject.bundle.budget.current(at: now.wall, in: situation)
        let settings = situation.settings
        let (launches, cpu) = (Account(launches: budget, settings), Account(cpu: budget, settings))
        let isRefresh = subject.request.kind == .appRefresh
        if isRefresh, let answer = veto(launches, subject, situation, at: now) { return answer }
        if !subject.needs.externalPower, let answer = veto(cpu, subject, situation, at: now) { return answer }
        let shown = isRefresh ? launches : cpu
        return subject.proceed(
            Rationale(
                quantity: shown.quantity, required: "less than \(shown.text(shown.limit))",
                observed: shown.text(shown.spent)))
    }

    /// How many refresh launches of a bundle may have begun by now, and how much CPU time it may have used.
    static func available(
        of bundle: BundleState, at now: Moment, in situation: Situation
    ) -> (launches: Double, cpu: Duration) {
        let budget = bundle.budget.current(at: now.wall, in: situation)
        let pace = DailyPace(of: bundle.usage, on: situation.localDay(now.wall), in: situation)
        let quarter = situation.start(ofQuarter: situation.localQuarter(now.wall))
        let launches = Account(launches: budget, situation.settings).available(pace, at: quarter)
        let cpu = Account(cpu: budget, situation.settings).available(pace, at: quarter)
        return (launches, .milliseconds(Int64((cpu * 1000).rounded())))
    }

    /// One of the two budgets.
    private struct Account {
        let quantity: String
        let option: String
        let spent: Double
        /// The least amount that is available at midnight, even if the budget is small.
        let least: Double
        /// How much of a unit must have been added before the unit is available.
        let part: Double
        /// The budget of the whole day.
        var limit: Double
        /// The share of ``limit`` that is available at midnight.
        let share: Double
        let text: (Double) -> String

        init(launches budget: BudgetAccount, _ settings: SchedulerSettings) {
            (quantity, option, least, part) = ("refreshLaunches", "--launches", 1, 0.5)
            spent = Double(budget.launches)
            limit = Double(budget.launchLimit(settings))
            share = budget.burst(settings)
            text = { "\(Int($0.rounded(.up)))" }
        }

        init(cpu budget: BudgetAccount, _ settings: SchedulerSettings) {
            (quantity, option, least, part) = ("cpuTime", "--cpu", 0, 0)
            spent = budget.cpu.inSeconds
            limit = budget.cpuLimit(settings).inSeconds
            share = budget.burst(settings)
            text = { Duration.milliseconds(Int64($0 * 1000)).text }
        }

        /// What is available at midnight: at least one launch, or a small budget would begin at noon.
        var burst: Double { max(limit * share, min(least, limit)) }

        /// What is available at a time of the day.
        func available(_ pace: DailyPace, at time: WallTime) -> Double {
            max(burst, burst + (limit - burst) * pace.share(until: time) - part)
        }

        /// An amount as the command line takes it.
        func argument(_ amount: Int64) -> String {
            least > 0 ? "\(amount)" : DurationText.format(.seconds(amount))
        }
    }

    /// The least whole budget of which more is available now than was spent.
    private func enough(
        _ account: Account, _ subject: Subject, _ situation: Situation, at now: Moment
    ) -> Int64 {
        let pace = DailyPace(of: subject.bundle.usage, on: situation.localDay(now.wall), in: situation)
        let quarter = situation.start(ofQuarter: situation.localQuarter(now.wall))
        var account = account
        // What is available grows with the budget; a burst of 0 makes nothing available at midnight.
        var (low, high) = (Int64(account.spent), Int64((account.spent + 1) / max(0.001, account.share)) + 1)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            account.limit = Double(middle)
            if account.spent < account.available(pace, at: quarter) { high = middle } else { low = middle }
        }
        return high
    }

    private func veto(
        _ account: Account, _ subject: Subject, _ situation: Situation, at now: Moment
    ) -> Answer? {
        let burst = account.burst
        let today = situation.localDay(now.wall)
        if account.spent >= account.limit {
            // A budget of 0 has nothing to give tomorrow either.
            return exhausted(
                account, subject, situation, at: now,
                until: account.limit > 0 ? situation.start(ofDay: today + 1) : nil, available: nil)
        }
        // The hours of use matter only to the few bundles that have spent the burst.
        if account.spent < burst { return nil }
        let pace = DailyPace(of: subject.bundle.usage, on: today, in: situation)
        let rest = account.limit - burst
        let quarter = situation.localQuarter(now.wall)
        let available = account.available(pace, at: situation.start(ofQuarter: quarter))
        if account.spent < available { return nil }
        // More must be available than was spent, so a date at the beginning of a quarter is too early.
        let enough = situation.localQuarter(pace.time(of: (account.spent + account.part - burst) / rest))
        return exhausted(
            account, subject, situation, at: now,
            until: situation.start(ofQuarter: max(quarter, enough) + 1), available: available)
    }

    /// A veto until more of the budget is available.
    ///
    /// `available` is `nil` if all of the day's budget is spent.
    private func exhausted(
        _ account: Account, _ subject: Subject, _ situation: Situation, at now: Moment,
        until next: WallTime?, available: Double?
    ) -> Answer {
        let whole = account.text(account.limit)
        let advice = next == nil ? "A budget of 0 never increases by itself. Raise it" : "Raise the budget"
        return subject.wait(
            for: .bundle(subject.request.bundle), until: next,
            Rationale(
                quantity: account.quantity,
                required: available.map {
                    "less than \(account.text($0)) at this time, and \(whole) in a day"
                }
                    ?? (next == nil ? "less than the budget, which is 0" : "less than \(whole)"),
                observed: account.text(account.spent), earliestChange: next,
                remedy:
                    "\(advice): bgtask settings budget \(subject.request.bundle) \(account.option) \(account.argument(enough(account, subject, situation, at: now)))"
            ))
    }
}
