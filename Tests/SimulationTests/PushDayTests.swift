import Foundation
import HostCore
import Scheduling
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Simulation

/// A day of devices that get pushes; Documentation/Pushes.md has the figures of 1,000 of them.
///
/// `BGTASK_PUSH_FIGURES=FILE` makes these figures, and appends them to a file.
@Suite struct PushDayTests {
    /// A series of 14 pushes, as Apple's example has it.
    struct Series: CustomTestStringConvertible {
        var name: String
        var spacing: Duration
        /// Whether the push with this number, from 0, has the priority 10.
        var isUrgent: @Sendable (Int) -> Bool
        /// The permitted mean number of launches for each device.
        var mean: ClosedRange<Double>
        var testDescription: String { name }
    }

    static let series = [
        Series(
            name: "5, within an hour", spacing: .seconds(3600) / 14, isUrgent: { _ in false }, mean: 3...5),
        Series(name: "5, every 7 min", spacing: .seconds(420), isUrgent: { _ in false }, mean: 6...8),
        Series(name: "10, every 7 min", spacing: .seconds(420), isUrgent: { _ in true }, mean: 12...14),
        Series(
            name: "every third 10, every 7 min", spacing: .seconds(420), isUrgent: { $0 % 3 == 0 },
            mean: 7...10.5),
    ]

    private struct Day {
        var launches: [Tally.Launch]
        var urgentDelays: [Duration]
        var refusals: Int
    }

    private static func manifests() throws -> [Manifest] {
        let task = TaskDeclaration(pattern: try IdentifierPattern("com.example.mail.push"), kind: .push)
        return try SampleManifests.make() + [
            Manifest(
                bundle: try BundleIdentifier("com.example.mail"), library: "mail.so",
                modes: [.remoteNotification], tasks: [task], sandbox: SandboxDeclaration())
        ]
    }

    private static func day(_ device: Int, _ series: Series, _ manifests: [Manifest]) throws -> Day {
        var numbers = SeededNumbers(seed: 7, part: UInt64(device))
        let kinds = DeviceKind.allCases
        let (worldSeed, launchSeed) = (numbers.next(), numbers.next())
        let world = DeviceDays(
            kinds[device % kinds.count], days: 1, numbers: SeededNumbers(seed: worldSeed),
            manifests: manifests)
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start),
            model: TypicalLaunches(seed: launchSeed))
        for (at, occurrence) in world.occurrences { host.add(occurrence, at: at) }
        let bundle = try BundleIdentifier("com.example.mail")
        // The series begins at another time of the day on each device, and ends before midnight.
        let begin = Duration.seconds(Int64.random(in: 6 * 3600...20 * 3600, using: &numbers))
        var urgent: [WallTime] = []
        for index in 0..<14 {
            let at = begin + series.spacing * index
            let priority: PushPriority = series.isUrgent(index) ? .immediate : .considerate
            if priority == .immediate { urgent.append(Fleet.start + at) }
            host.add(
                .call(.push(PushOrder(to: bundle, payload: "{\"n\": \(index)}", priority))), at: at)
        }
        host.begin(
            VirtualBeginning(settings: SchedulerSettings(), manifests: manifests, isBooted: true))
        host.run(until: .seconds(86_400))
        let launches = host.tally.launches.filter { $0.identifier.rawValue == "com.example.mail.push" }
        let delays = urgent.compactMap { time in launches.first { $0.start >= time }.map { $0.start - time } }
        return Day(
            launches: launches, urgentDelays: delays,
            refusals: host.tally.refusals.values.reduce(0, +))
    }

    @Test(arguments: series)
    func `fourteen pushes become about seven launches, and urgent ones start at once`(series: Series)
        async throws
    {
        let manifests = try Self.manifests()
        // A page of figures is made from 1,000 devices, which take minutes.
        let figures = ProcessInfo.processInfo.environment["BGTASK_PUSH_FIGURES"]
        let devices = figures != nil ? 1000 : Seeds.isThorough ? 100 : 20
        let days = try await withThrowingTaskGroup(of: [Day].self) { group in
            for part in 0..<8 {
                group.addTask {
                    try stride(from: part, to: devices, by: 8).map { try Self.day($0, series, manifests) }
                }
            }
            return try await group.reduce(into: [Day]()) { $0 += $1 }
        }
        let counts = days.map(\.launches.count).sorted()
        let mean = Double(counts.reduce(0, +)) / Double(devices)
        let delays = days.flatMap(\.urgentDelays).sorted()
        let delay95 = delays.isEmpty ? .zero : delays[delays.count * 95 / 100]
        let refused = Double(days.map(\.refusals).reduce(0, +)) / Double(devices)
        if let path = figures {
            let row =
                "| \(series.name) | \((mean * 10).rounded() / 10) | \(counts[devices / 20]) to \(counts[devices * 19 / 20]) | "
                + "\(delays.isEmpty ? "–" : "\(delay95.inSeconds.rounded()) s") | \((refused * 100).rounded() / 100) |\n"
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(row.utf8))
        }
        #expect(series.mean.contains(mean), "\(mean) launches for each device, \(counts)")
        // A launch of priority 5 begins at least 15 min after any other.
        if !series.isUrgent(0) {
            for day in days {
                for (first, second) in zip(day.launches, day.launches.dropFirst()) {
                    #expect(second.start - first.start >= .seconds(900) || second.attempt > 1)
                }
            }
        }
    }
}
