import HostCore
import Scheduling
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Simulation

/// Whether the host wakes hardly more often than its windows require, for made-up mixes of long and short
/// windows, and tasks that fit their budgets.
@Suite struct WakeUpTests {
    /// From 1 to 5 tasks with periods from 30 min to a day, for processing from 4 h, and windows from a tenth
    /// to a half of them.
    private static func mix(_ seed: UInt64) throws -> [Manifest] {
        var numbers = SeededNumbers(seed: seed, part: 11)
        let periods: [Int64] = [1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]
        return try (0..<Int.random(in: 1...5, using: &numbers)).map { index in
            let isRefresh = numbers.chance(0.5)
            let period = periods[Int.random(in: (isRefresh ? 0 : 3)..<periods.count, using: &numbers)]
            var task = TaskDeclaration(
                pattern: try IdentifierPattern("com.example.b\(index).t"),
                kind: isRefresh ? .appRefresh : .processing)
            task.schedule = Schedule(
                every: .seconds(period),
                tolerance: .seconds(period * Int64.random(in: 1...5, using: &numbers) / 10))
            return Manifest(
                bundle: try BundleIdentifier("com.example.b\(index)"), library: "sample.so",
                modes: [.fetch, .processing], tasks: [task], sandbox: SandboxDeclaration())
        }
    }

    private static func run(
        _ kind: DeviceKind, _ seed: UInt64, _ settings: SchedulerSettings = SchedulerSettings()
    ) throws -> Tally {
        var fleet = Fleet(kinds: [kind], manifests: try mix(seed), seed: seed)
        (fleet.days, fleet.settings) = (7, settings)
        return fleet.run(device: 0, detail: .launches, findDate: { _, _, _ in nil })
    }

    @Test(arguments: DeviceKind.allCases)
    func `any mix of windows needs at most 1.2 times the least wake-ups, and those for better moments`(
        kind: DeviceKind
    ) throws {
        var (sum, least) = (0, 0)
        for seed in Seeds.of(UInt64(1)...24) {
            let tally = try Self.run(kind, seed)
            let needed = tally.wakeUps - tally.chosenWakeUps
            // Of a few wake-ups, two more say nothing.
            #expect(
                needed * 5 <= tally.leastWakeUps * 6 + 10,
                "\(kind), seed \(seed): \(needed) of \(tally.leastWakeUps)")
            (sum, least) = (sum + needed, least + tally.leastWakeUps)
        }
        #expect(sum * 5 <= least * 6, "\(kind): \(sum) of \(least)")
    }

    @Test func `twenty refreshes with one window begin within it, two after two`() throws {
        let manifests = try (0..<20).map { index in
            var task = TaskDeclaration(
                pattern: try IdentifierPattern("com.example.b\(index).t"), kind: .appRefresh)
            task.schedule = Schedule(every: .seconds(1800), tolerance: .seconds(900))
            return Manifest(
                bundle: try BundleIdentifier("com.example.b\(index)"), library: "sample.so", modes: [.fetch],
                tasks: [task], sandbox: SandboxDeclaration())
        }
        var fleet = Fleet(kinds: [.kiosk], manifests: manifests, seed: 1)
        fleet.days = 7
        let tally = fleet.run(device: 0, detail: .launches, findDate: { _, _, _ in nil })
        #expect(tally.launches.count > 6000)
        // The budget holds a few back.
        let late = tally.launches.count { $0.isLate }
        #expect(late * 20 <= tally.launches.count, "\(late) of \(tally.launches.count)")
    }

    @Test func `without scores, no wake-up is for a better moment`() throws {
        var inert = SchedulerSettings()
        inert.scoreThreshold = 0
        inert.weights.usage = 0
        for kind in DeviceKind.allCases {
            let tally = try Self.run(kind, 3, inert)
            #expect(tally.chosenWakeUps == 0)
            #expect(tally.wakeUps * 5 <= tally.leastWakeUps * 6 + 10)
        }
    }

    @Test func `a wake-up is not unnecessary because of what the host does when it wakes`() throws {
        // One task, so nothing else wakes a host whose conditions do not change.
        var task = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.a.t"), kind: .processing)
        task.schedule = Schedule(every: .seconds(21_600), tolerance: .seconds(10_800))
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "sample.so", modes: [.processing],
            tasks: [task], sandbox: SandboxDeclaration())
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: TypicalLaunches(seed: 1))
        host.begin(VirtualBeginning(manifests: [manifest], isBooted: true))
        host.run(until: .seconds(86_400) * 10)
        #expect(host.tally.launches.count > 35)
        #expect(host.tally.leastWakeUps == host.tally.wakeUps)
    }

    @Test func `a launch that the user stopped leaves no alarm to store its bundle's state`() throws {
        let task = TaskDeclaration(pattern: try IdentifierPattern("com.example.a.t"), kind: .processing)
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "sample.so", modes: [.processing],
            tasks: [task], sandbox: SandboxDeclaration())
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: TypicalLaunches(seed: 1))
        let submission = TaskSubmission(identifier: try TaskIdentifier("com.example.a.t"), origin: .client)
        host.add(.call(.submit(submission, from: nil)), at: .zero)
        var active = Conditions.simulatedStart
        active.user = .known(.active)
        host.add(.input(.conditions(active)), at: .seconds(30))
        host.begin(VirtualBeginning(manifests: [manifest], isBooted: true))
        host.run(until: .seconds(3600))
        #expect(host.tally.launches.map(\.expiration) == [.userReturned])
        #expect(host.tally.wakeUps == 0)
        let states = host.store.facts.bundleStates
        #expect(states.count == 1)
    }
}
