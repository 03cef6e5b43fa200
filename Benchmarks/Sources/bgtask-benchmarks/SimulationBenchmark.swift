import Glibc
import Recording
import Scheduling
import Simulation
import TaskModel

/// The cost of virtual hosts: one device over time, many devices over a day, and the replay of a recorded
/// year.
///
/// Each row has CPU time beside wall time: other users of the machine distort wall time, and a fleet uses all
/// cores.
struct SimulationBenchmark {
    /// The date of the only expression in the sample manifests, 02:00 UTC; it excludes the cost of time zone
    /// rules.
    private static let findDate: VirtualHost.DateFinder = { _, _, after in
        let (day, seconds) = (Int64(86_400), after.sinceEpoch.components.seconds)
        let today = seconds / day * day + 7200
        return WallTime(sinceEpoch: .seconds(today > seconds ? today : today + day))
    }

    func run() async throws {
        print("\nSimulation, the sample manifests (ms)")
        heading("one laptop")
        for days in [30, 120, 365] { try device(days: days, detail: .launches, "launches") }
        for days in [30, 120, 365] { try device(days: days, detail: .waits, "launches and waits") }
        heading("a day of")
        for devices in [100, 1000, 10_000] { try await day(of: devices) }
        heading("exact replay of a laptop")
        for days in [30, 120, 365] {
            try replay(days: days, detail: .launches, "launches")
            try replay(days: days, detail: .waits, "launches and waits")
        }
    }

    private func fleet(_ kinds: [DeviceKind], days: Int) throws -> Fleet {
        var fleet = Fleet(kinds: kinds, manifests: try SampleManifests.make(), seed: 1)
        fleet.days = days
        return fleet
    }

    private func device(days: Int, detail: Tally.Detail, _ name: String) throws {
        let fleet = try fleet([.laptop], days: days)
        var tally: Tally?
        let cost = Cost.measure { tally = fleet.run(device: 0, detail: detail, findDate: Self.findDate) }
        row("\(days) days, \(name)", events: tally?.events ?? 0, launches: tally?.launches.count ?? 0, cost)
    }

    private func day(of devices: Int) async throws {
        var fleet = try fleet(DeviceKind.allCases, days: 1)
        fleet.devices = devices
        var summary = RunSummary()
        let start = Cost.now()
        await fleet.run(detail: .launches, findDate: Self.findDate) { summary.add($1) }
        let cost = Cost.now() - start
        row("\(devices) devices", events: summary.events, launches: summary.launches, cost)
    }

    private func replay(days: Int, detail: Tally.Detail, _ name: String) throws {
        let fleet = try fleet([.laptop], days: days)
        var entries: [RecordedEntry] = []
        _ = fleet.run(device: 0, detail: .launches, findDate: Self.findDate) { entries.append($0) }
        let segment = RecordedSegment(path: "memory", entries: entries)
        var replay: ExactReplay?
        let cost = Cost.measure { replay = ExactReplay([segment], detail: detail) }
        guard let replay, replay.differences.isEmpty else { throw BenchmarkError("the replay differs") }
        row(
            "\(days) days, \(name)", events: replay.tally.events, launches: replay.tally.launches.count, cost)
    }

    private func heading(_ what: String) {
        print(
            cell(what, 30, right: false) + cell("events", 10) + cell("launches", 10) + cell("wall", 10)
                + cell("CPU", 10) + cell("events per CPU s", 18))
    }

    private func row(_ name: String, events: Int, launches: Int, _ cost: Cost) {
        print(
            cell("  " + name, 30, right: false) + cell("\(events)", 10) + cell("\(launches)", 10)
                + cell(decimal(cost.wall * 1000), 10) + cell(decimal(cost.cpu * 1000), 10)
                + cell(decimal(Double(events) / cost.cpu, 0), 18))
    }
}

/// Wall time in seconds, and CPU time of the process on all cores in seconds.
private struct Cost {
    var wall: Double
    var cpu: Double

    static func now() -> Self { Self(wall: read(CLOCK_MONOTONIC), cpu: read(CLOCK_PROCESS_CPUTIME_ID)) }

    static func measure(_ work: () -> Void) -> Self {
        let start = now()
        work()
        return now() - start
    }

    static func - (left: Self, right: Self) -> Self {
        Self(wall: left.wall - right.wall, cpu: left.cpu - right.cpu)
    }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
