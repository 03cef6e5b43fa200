import HostCore
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling
@testable import Simulation

/// Whether refreshes land just before the uses of a person with habits, on the days of all devices.
///
/// The uses that `bgtask simulate` invents are at random times of each day, so no rule can foresee them.
@Suite struct HabitTests {
    private static let days = 28
    private static let half = Duration.seconds(1800)

    /// A bundle with a daily task with `prefetch`, and a task that runs every four hours.
    private static func reader() throws -> Manifest {
        var daily = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.reader.daily"), kind: .appRefresh)
        daily.schedule = Schedule(every: .seconds(86_400), tolerance: .seconds(12 * 3600))
        daily.isPrefetch = true
        var often = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.reader.often"), kind: .appRefresh)
        often.schedule = Schedule(every: .seconds(4 * 3600), tolerance: .seconds(2 * 3600))
        return Manifest(
            bundle: try BundleIdentifier("com.example.reader"), library: "sample.so", modes: [.fetch],
            tasks: [daily, often], sandbox: SandboxDeclaration())
    }

    /// The uses of each day: at breakfast, at lunch and in the evening, each on nine days of ten, and later
    /// in the morning of weekends.
    private static func uses(_ seed: UInt64) -> [Duration] {
        var numbers = SeededNumbers(seed: seed, part: 77)
        var times: [Duration] = []
        for day in 0..<days {
            for (hour, spread) in [(day % 7 < 5 ? 7.7 : 10.2, 10.0), (12.8, 12), (20.6, 15)]
            where numbers.chance(0.9) {
                let shift = Double.random(in: -spread...spread, using: &numbers) * 60
                times.append(.milliseconds(Int64((Double(day) * 86_400 + hour * 3600 + shift) * 1000)))
            }
        }
        return times
    }

    private static func run(
        _ kind: DeviceKind, seed: UInt64, _ settings: SchedulerSettings = SchedulerSettings()
    ) throws -> Tally {
        let manifest = try reader()
        var numbers = SeededNumbers(seed: seed, part: 0)
        let (worldSeed, launchSeed) = (numbers.next(), numbers.next())
        let world = DeviceDays(kind, days: days, numbers: SeededNumbers(seed: worldSeed), manifests: [])
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start),
            model: TypicalLaunches(seed: launchSeed))
        for (at, occurrence) in world.occurrences { host.add(occurrence, at: at) }
        for at in uses(seed) { host.add(.call(.change(manifest.bundle, .used)), at: at) }
        host.begin(VirtualBeginning(settings: settings, manifests: [manifest], isBooted: true))
        host.run(until: .seconds(86_400) * days)
        return host.tally
    }

    /// Of the refreshes that had a use within reach, how many ended in the half hour before a use; the same
    /// as ``Tally/refreshesBeforeUse(within:)``, for one task.
    private static func landed(_ tally: Tally, _ name: String) -> (hits: Int, of: Int) {
        let uses = tally.uses.values.flatMap(\.self).sorted()
        var (hits, all) = (0, 0)
        for launch in tally.launches where launch.identifier.rawValue.hasSuffix(name) {
            guard let window = launch.window, let end = launch.end,
                launch.start >= Fleet.start + .seconds(7 * 86_400),
                uses.contains(where: { $0 >= window.ripe && $0 <= window.due + half })
            else { continue }
            all += 1
            if uses.contains(where: { $0 >= end && $0 - end <= half }) { hits += 1 }
        }
        return (hits, all)
    }

    @Test(arguments: ["daily", "often"])
    func `three of four refreshes end in the half hour before a use`(name: String) throws {
        var inert = SchedulerSettings()
        inert.weights.usage = 0
        var (hits, all, plainHits, plainAll) = (0, 0, 0, 0)
        for kind in DeviceKind.allCases {
            for seed in [1, 2] as [UInt64] {
                let (learnt, plain) = (
                    Self.landed(try Self.run(kind, seed: seed), name),
                    Self.landed(try Self.run(kind, seed: seed, inert), name)
                )
                print("habit \(kind) \(seed) \(name): \(learnt), without weight \(plain)")
                (hits, all) = (hits + learnt.hits, all + learnt.of)
                (plainHits, plainAll) = (plainHits + plain.hits, plainAll + plain.of)
            }
        }
        print("habit \(name): \(hits) of \(all); without weight \(plainHits) of \(plainAll)")
        #expect(all > 100)
        #expect(Double(hits) >= 0.75 * Double(all), "\(hits) of \(all)")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `the simulated users with habits find three of four refreshes fresh, others do not`(seed: UInt64)
        throws
    {
        var learnt = Fleet(kinds: DeviceKind.allCases, manifests: [try Self.reader()], seed: seed)
        (learnt.days, learnt.hasHabits) = (Self.days, true)
        var inert = learnt
        inert.settings.weights.usage = 0
        func landed(_ fleet: Fleet) -> RunSummary {
            RunSummary(
                DeviceKind.allCases.indices.map {
                    fleet.run(device: $0, detail: .launches, findDate: { _, _, _ in nil })
                })
        }
        let (with, without) = (landed(learnt), landed(inert))
        print(
            "habits \(seed): \(with.refreshesBeforeUse) of \(with.choosingRefreshes), without weight "
                + "\(without.refreshesBeforeUse) of \(without.choosingRefreshes)")
        #expect(with.choosingRefreshes > 100)
        #expect(with.refreshesBeforeUse * 4 >= with.choosingRefreshes * 3)
        #expect(without.refreshesBeforeUse * 4 < without.choosingRefreshes * 3)
    }
}
