import Scheduling
import TaskModel

/// The cost of the scheduler's decisions by the number of pending requests; nothing here waits or does I/O.
struct SchedulingBenchmark {
    private let clock = ContinuousClock()
    private let counts = [1000, 10_000, 100_000]

    func run() {
        print("\nScheduling, by the reason why the requests wait (us): loading all, the first pass, the pass")
        print("after the conditions become good for all, and bad again; wake-ups asked for in an idle day")
        print(
            cell("", 24, right: false) + cell("pending", 9) + cell("load", 11) + cell("first pass", 12)
                + cell("turned", 10) + cell("back", 10) + cell("wake-ups", 10))
        for scenario in PendingScenario.allCases { for count in counts { passes(scenario, count) } }
        print("\nScheduling, events by pending requests (us): medians of 500")
        print(
            cell("pending", 12) + cell("submit", 12) + cell("dated", 12) + cell("launch ends", 13)
                + cell("progress", 12) + cell("timePassed", 12) + cell("explain", 12))
        for count in counts { events(count) }
    }

    /// Measures the scheduler's passes that may have to look at all requests.
    private func passes(_ scenario: PendingScenario, _ count: Int) {
        let set = PendingSet(count: count, scenario: scenario)
        var scheduler = Scheduler()
        let load = time { scheduler = set.load() }
        var wake: Wake?
        let first = time { wake = Self.wake(scheduler.handle(.started, at: set.start)) }
        let wakes = wakesInADay(scheduler, wake, set.start)
        var turned = Duration.zero
        var back = Duration.zero
        let (before, after) = scenario.conditions
        if before != after {
            turned = time { _ = scheduler.handle(.conditionsChanged(after), at: set.start) }
            back = time { _ = scheduler.handle(.conditionsChanged(before), at: set.start) }
        }
        print(
            cell(scenario.rawValue, 24, right: false) + cell("\(count)", 9) + us(load, 11) + us(first, 12)
                + (before != after ? us(turned, 10) + us(back, 10) : cell("-", 10) + cell("-", 10))
                + cell("\(wakes)", 10))
    }

    /// How often the scheduler asks for a wake within a day in which nothing else happens and nothing starts.
    private func wakesInADay(_ scheduler: Scheduler, _ first: Wake?, _ start: Moment) -> Int {
        var (scheduler, wake, count) = (scheduler, first, 0)
        while let date = wake?.wall, date < start.wall + .seconds(86_400) {
            count += 1
            let actions = scheduler.handle(.timePassed, at: start.advanced(by: date - start.wall))
            if actions.contains(where: { if case .launch = $0 { true } else { false } }) { break }
            wake = Self.wake(actions) ?? wake
            if wake?.wall == date { break }
        }
        return count
    }

    private static func wake(_ actions: [SchedulerAction]) -> Wake? {
        for case .wake(let wake) in actions { return wake }
        return nil
    }

    /// Measures single events while `count` requests wait for a slot and two launches run.
    private func events(_ count: Int) {
        let set = PendingSet(count: count, scenario: .slots)
        let dated = PendingSet(count: count, scenario: .dates)
        var scheduler = set.load()
        var launches: Int64 = 0
        var running: [LaunchID] = []
        func begin(_ actions: [SchedulerAction]) {
            for case .launch(let id, _, _, _) in actions {
                launches += 1
                running.append(LaunchID(rawValue: launches))
                _ = scheduler.handle(.launchStarted(LaunchID(rawValue: launches), id), at: set.start)
            }
        }
        begin(scheduler.handle(.started, at: set.start))
        var (submit, later, end, progress) = (Samples(), Samples(), Samples(), Samples())
        var (passed, explain) = (Samples(), Samples())
        for step in 1...500 {
            let now = set.start.advanced(by: .milliseconds(step))
            let request = set.request(count + 2 * step)
            submit.add(time { _ = scheduler.handle(.submitted(request), at: now) })
            let other = dated.request(count + 2 * step + 1)
            later.add(time { _ = scheduler.handle(.submitted(other), at: now) })
            guard let launch = running.first else { break }
            let report = TaskProgress(completed: Int64(step), total: 500)
            progress.add(time { _ = scheduler.handle(.progressed(launch, report), at: now) })
            passed.add(time { _ = scheduler.handle(.timePassed, at: now) })
            explain.add(time { _ = scheduler.explain(request.id, at: now) })
            var actions: [SchedulerAction] = []
            end.add(time { actions = scheduler.handle(.launchEnded(launch, putBack: nil), at: now) })
            running.removeFirst()
            begin(actions)
        }
        let cells = [submit, later, end, progress, passed, explain].enumerated().map { index, samples in
            cell(decimal(samples.median / 1000), index == 2 ? 13 : 12)
        }
        print(cell("\(count)", 12) + cells.joined())
    }

    private func time(_ work: () -> Void) -> Duration { clock.measure(work) }

    private func us(_ duration: Duration, _ width: Int) -> String {
        let (seconds, attoseconds) = duration.components
        return cell(decimal(Double(seconds) * 1e6 + Double(attoseconds) * 1e-12, 0), width)
    }
}
