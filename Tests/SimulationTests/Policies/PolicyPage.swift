import Foundation
import Scheduling
import TaskModel

@testable import Simulation

/// The page that compares bgtask with rules of Android and systemd.
struct PolicyPage {
    static let seeds: [UInt64] = [1, 2]
    static let days = 28

    struct Row: Sendable {
        var name: String
        var run: @Sendable (DeviceKind, ComparedDays, UInt64) -> ComparedRun
    }

    static let rows = [
        Row(name: "bgtask") { kind, days, seed in
            ComparedRun(ofBgtaskOn: days, kind: kind, seed: seed)
        },
        Row(name: "Android's rules") { kind, days, seed in
            ComparedMachine.run(days, seed: seed, under: AndroidRules(isStationary: kind != .phone))
        },
        Row(name: "systemd, `AccuracySec=1min`") { _, days, seed in
            ComparedMachine.run(days, seed: seed, under: SystemdRules(seed: seed))
        },
        Row(name: "systemd, `AccuracySec=` the tolerance") { _, days, seed in
            ComparedMachine.run(days, seed: seed, under: SystemdRules(accuracy: nil, seed: seed))
        },
        Row(name: "systemd, `RandomizedDelaySec=` the tolerance") { _, days, seed in
            ComparedMachine.run(days, seed: seed, under: SystemdRules(randomizes: true, seed: seed))
        },
    ]

    /// The bundles of the comparison: those of `bgtask simulate`, and six others.
    static func manifests() throws -> [Manifest] {
        func bundle(
            _ name: String, _ task: String, _ kind: TaskKind, every period: Int64, tolerance: Int64,
            network: NetworkRequirement? = nil
        ) throws -> Manifest {
            var declaration = TaskDeclaration(
                pattern: try IdentifierPattern("com.example.\(name).\(task)"), kind: kind)
            declaration.schedule = Schedule(every: .seconds(period), tolerance: .seconds(tolerance))
            declaration.network = network
            declaration.requiresNetworkConnectivity = network != nil
            return Manifest(
                bundle: try BundleIdentifier("com.example.\(name)"), library: "sample.so",
                modes: [kind == .appRefresh ? .fetch : .processing], tasks: [declaration],
                sandbox: SandboxDeclaration())
        }
        return try SampleManifests.make() + [
            bundle("calendar", "refresh", .appRefresh, every: 7200, tolerance: 3600, network: .any),
            bundle("index", "update", .processing, every: 86_400, tolerance: 43_200),
            bundle("mail", "refresh", .appRefresh, every: 1800, tolerance: 900, network: .any),
            bundle(
                "podcasts", "download", .processing, every: 43_200, tolerance: 21_600, network: .unmetered),
            bundle("status", "refresh", .appRefresh, every: 21_600, tolerance: 10_800, network: .any),
            bundle("weather", "refresh", .appRefresh, every: 3600, tolerance: 1800, network: .any),
        ]
    }

    /// The figures of every scheduler on a device, over all seeds.
    static func scores(on kind: DeviceKind, days: Int = days, seeds: [UInt64] = seeds) throws
        -> [(name: String, score: ComparedScore)]
    {
        let manifests = try manifests()
        return rows.map { row in
            let score = seeds.map { seed in
                let world = ComparedDays(kind, days: days, seed: seed, manifests: manifests)
                return ComparedScore(row.run(kind, world, seed), on: world)
            }
            return (row.name, score.reduce(ComparedScore(), +))
        }
    }

    static let columns = [
        "launches a day", "wake-ups a day", "least wake-ups a day", "refresh late, p50, min",
        "refresh late, p95, min", "after their window, %", "missed periods, %", "CPU on battery, s a day",
        "launches on battery a day", "metered, s a day", "processing while in use, min a day",
        "refreshes within 30 min before a use, %", "uses within 30 min after a refresh, %",
    ]

    static func cells(_ score: ComparedScore) -> [String] {
        func perDay(_ value: Double, _ digits: Int = 1) -> String { number(value / score.days, digits) }
        func percent(_ part: Int, _ whole: Int) -> String {
            whole == 0 ? "-" : number(100 * Double(part) / Double(whole), 1)
        }
        return [
            perDay(Double(score.launches)), perDay(Double(score.wakeUps)),
            perDay(Double(score.leastWakeUps)), number(score.late(0.5) / 60, 1),
            number(score.late(0.95) / 60, 1), percent(score.beyond, score.windows),
            percent(score.missed, score.periods), perDay(score.cpuOnBattery, 0),
            perDay(Double(score.launchesOnBattery)), perDay(score.meteredSeconds, 0),
            perDay(score.disturbingSeconds / 60), percent(score.refreshesBeforeUse, score.refreshes),
            percent(score.freshUses, score.uses),
        ]
    }

    private static func number(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }

    /// The tables of all devices, in Markdown: a column for each scheduler.
    static func tables() throws -> String {
        try DeviceKind.allCases.map { kind in
            let scores = try scores(on: kind)
            var lines = ["### \(kind.rawValue)", ""]
            lines.append("| figure | " + scores.map(\.name).joined(separator: " | ") + " |")
            lines.append("|---|" + String(repeating: "---|", count: scores.count))
            let cells = scores.map { Self.cells($0.score) }
            for (index, column) in columns.enumerated() {
                lines.append("| \(column) | " + cells.map { $0[index] }.joined(separator: " | ") + " |")
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
