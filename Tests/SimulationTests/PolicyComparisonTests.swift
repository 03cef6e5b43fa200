import Foundation
import Scheduling
import TaskModel
import Testing

@testable import Simulation

/// The comparison with the rules of other schedulers: the rules themselves, and the page.
@Suite struct PolicyComparisonTests {
    private static func days(
        _ conditions: [(Double, Conditions)] = [], length: Double = 86_400, tasks: [Manifest]
    ) -> ComparedDays {
        var days = ComparedDays(.kiosk, days: 0, seed: 1, manifests: tasks)
        days.conditions = [(0, .simulatedStart)] + conditions.map { (at: $0.0, value: $0.1) }
        days.uses = []
        days.sleeps = []
        days.length = length
        return days
    }

    private static func manifest(
        _ name: String, _ kind: TaskKind = .appRefresh, every period: Int64, tolerance: Int64,
        needsPower: Bool = false
    ) throws -> Manifest {
        var task = TaskDeclaration(pattern: try IdentifierPattern("com.example.\(name).t"), kind: kind)
        task.schedule = Schedule(every: .seconds(period), tolerance: .seconds(tolerance))
        task.requiresExternalPower = needsPower
        return Manifest(
            bundle: try BundleIdentifier("com.example.\(name)"), library: nil, modes: [.processing, .fetch],
            tasks: [task], sandbox: SandboxDeclaration())
    }

    private static var onBattery: Conditions {
        var conditions = Conditions.simulatedStart
        conditions.power = .known(
            PowerCondition(externalPower: false, isCharging: false, batteryPercent: 60))
        return conditions
    }

    @Test func `timers of systemd share wake-ups within their accuracy`() throws {
        let tasks = try (0..<4).map { try Self.manifest("b\($0)", every: 3600, tolerance: 600) }
        let days = Self.days(tasks: tasks)
        let run = ComparedMachine.run(days, seed: 1, under: SystemdRules(seed: 1))
        #expect(run.launches.count == 4 * 24)
        #expect(Set(run.launches.map(\.start)).count == 24)
        #expect(run.launches.allSatisfy { $0.start - ($0.window?.ripe ?? 0) <= 60 })
        let random = ComparedMachine.run(days, seed: 1, under: SystemdRules(randomizes: true, seed: 1))
        #expect(Set(random.launches.map(\.start)).count > 48)
    }

    @Test func `a timer with ConditionACPower skips its run on battery, and does not wait for power`() throws
    {
        let task = try Self.manifest("a", .processing, every: 86_400, tolerance: 3600, needsPower: true)
        let days = Self.days(
            [(0, Self.onBattery), (7200, .simulatedStart)], length: 2 * 86_400, tasks: [task])
        let run = ComparedMachine.run(days, seed: 1, under: SystemdRules(seed: 1))
        #expect(run.launches.count == 1 && run.launches[0].start >= 86_400)
        let waits = ComparedMachine.run(days, seed: 1, under: AndroidRules(isStationary: true))
        #expect(waits.launches.first?.start ?? 0 >= 7200)
    }

    @Test func `a periodic job of Android runs once in the flex at the end of its period`() throws {
        // For twelve hours, a bundle counts as active.
        let days = Self.days(length: 43_200, tasks: [try Self.manifest("a", every: 3600, tolerance: 900)])
        let run = ComparedMachine.run(days, seed: 1, under: AndroidRules(isStationary: true))
        #expect(run.launches.count == 12)
        for (index, launch) in run.launches.enumerated() {
            let end = Double(index + 1) * 3600
            #expect(launch.start >= end - 900 && launch.start <= end)
        }
    }

    @Test func `jobs of bundles in a rarer bucket wait for others`() throws {
        let tasks = try (0..<5).map { index in
            try Self.manifest("b\(index)", every: 7200 + Int64(index) * 120, tolerance: 600)
        }
        // Nobody uses the bundles, so they leave the active bucket after twelve hours.
        let days = Self.days(length: 40 * 3600, tasks: tasks)
        let run = ComparedMachine.run(days, seed: 1, under: AndroidRules(isStationary: true))
        let late = run.launches.filter { $0.start > 43_200 }
        #expect(!late.isEmpty)
        #expect(late.allSatisfy { $0.start - ($0.window?.ripe ?? 0) <= AndroidRules.batchDelay + 31 })
        #expect(late.contains { $0.start - ($0.window?.ripe ?? 0) > 300 })
    }

    @Test func `Doze runs jobs only in maintenance windows, which become rarer`() {
        var doze = Doze()
        doze.set(isPossible: true, since: 0, 0)
        var maintenance: [Double] = []
        while let next = doze.next, next < 86_400 {
            let before = doze.isRestricting
            doze.advance(to: next, isStationary: true)
            if before, !doze.isRestricting { maintenance.append(next) }
        }
        let gaps = zip(
            maintenance.filter { $0 > Doze.deepAfter }, maintenance.filter { $0 > Doze.deepAfter }.dropFirst()
        )
        .map { $1 - $0 }
        #expect(gaps.first == 2 * 3600 + 600 && gaps.last == 6 * 3600 + 600)
        doze.set(isPossible: false, since: 86_400, 86_400)
        #expect(!doze.isRestricting && doze.next == nil)
    }

    @Test func `a bundle has ten minutes of run time on battery in the window of its bucket`() throws {
        // A processing task on battery; nobody uses its bundle.
        let days = Self.days(
            [(0, Self.onBattery)], length: 3 * 86_400,
            tasks: [try Self.manifest("a", .processing, every: 3600, tolerance: 1800)])
        let run = ComparedMachine.run(days, seed: 1, under: AndroidRules(isStationary: false))
        #expect(run.launches.allSatisfy { $0.end - $0.start <= AndroidRules.longestRun + 1 })
        // The run time of the last day, when the bundle is in the bucket of rare use.
        let seconds = run.launches.filter { $0.start > 172_800 }.reduce(0) { $0 + $1.end - $1.start }
        #expect(seconds <= AndroidRules.quota + 2)
    }

    @Test func `the days of all schedulers are the same`() throws {
        let manifests = try PolicyPage.manifests()
        let days = ComparedDays(.laptop, days: 2, seed: 1, manifests: manifests)
        let run = ComparedRun(ofBgtaskOn: days, kind: .laptop, seed: 1)
        // The continued tasks, which start at once, show that users do the same at the same times.
        let tasks = ComparedTask.all(in: manifests)
        let started = run.launches.filter { tasks[$0.task].kind == .continuedProcessing }.map(\.start)
        #expect(
            !days.started.isEmpty
                && days.started.map(\.at).allSatisfy { time in
                    started.contains { abs($0 - time) < 1 }
                        || days.started.contains { $0.at < time && time - $0.at < 600 }
                })
        for row in PolicyPage.rows.dropFirst() {
            let other = row.run(.laptop, days, 1).launches
                .filter { tasks[$0.task].kind == .continuedProcessing }.map(\.start)
            #expect(Set(other).isSubset(of: days.started.map(\.at)), "\(row.name)")
        }
    }

    /// Writes the tables into the page at the path in BGTASK_POLICIES_PAGE: see `make policies`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["BGTASK_POLICIES_PAGE"] != nil))
    func `write the page`() throws {
        let path = try #require(ProcessInfo.processInfo.environment["BGTASK_POLICIES_PAGE"])
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let (begin, end) = ("<!-- tables: begin -->\n", "<!-- tables: end -->")
        let start = try #require(page.range(of: begin)?.upperBound)
        let stop = try #require(page.range(of: end)?.lowerBound)
        let tables = try PolicyPage.tables()
        try (page[..<start] + "\n\(tables)\n\n" + page[stop...])
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// The nine tasks with a schedule on a device that people use at random times, and that never sleeps.
    @Test func `wake-ups are at most 1.2 times the least number, and refreshes begin in their windows`()
        throws
    {
        var fleet = Fleet(
            kinds: [.kiosk],
            manifests: try PolicyPage.manifests().filter { $0.bundle.rawValue != "com.example.maps" },
            seed: 1)
        fleet.days = 21
        let tally = fleet.run(
            device: 0, detail: .launches,
            findDate: { _, _, after in
                // The next 02:00; no other task has such an expression.
                let day = after.wholeSeconds / 86_400
                let date = WallTime(sinceEpoch: .seconds(day * 86_400 + 7200))
                return date > after ? date : date + .seconds(86_400)
            })
        let ratio = Double(tally.wakeUps) / Double(tally.leastWakeUps)
        #expect(ratio <= 1.2, "\(tally.wakeUps) of \(tally.leastWakeUps)")
        // The tasks of half an hour share their wake-ups. On the first evening, their budget gives each the
        // next launch a quarter of an hour late, and one of them has to wait for a slot as well.
        #expect(tally.wakeUps <= 21 * 24 * 3 / 2, "\(tally.wakeUps)")
        let refreshes = tally.launches.filter { $0.refreshes != nil }
        let late = refreshes.count(where: \.isLate)
        #expect(refreshes.count > 2000 && late * 100 <= refreshes.count, "\(late) of \(refreshes.count)")
    }
}
