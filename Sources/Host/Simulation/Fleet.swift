public import Recording
public import Scheduling
public import TaskModel

/// Made-up days of one device or many, each with the core of a real host.
public struct Fleet: Sendable {
    /// Every device is one of these, in turn.
    public var kinds: [DeviceKind]
    /// How many there are.
    public var devices = 1
    /// How many days each lives through.
    public var days = 1
    /// What everything that is drawn follows from.
    public var seed: UInt64
    /// The rules' numbers.
    public var settings = SchedulerSettings()
    /// What the devices have installed.
    public var manifests: [Manifest]

    /// Makes a fleet.
    public init(kinds: [DeviceKind], manifests: [Manifest], seed: UInt64) {
        self.kinds = kinds
        self.manifests = manifests
        self.seed = seed
    }

    /// Where the virtual clocks begin: Monday, 2026-01-05 00:00 UTC, which is the devices' local time.
    public static let start = WallTime(sinceEpoch: .seconds(1_767_571_200))

    /// Runs one device; the same seed and number give the same days and launches on every machine.
    ///
    /// - Parameters:
    ///   - device: Its number, from 0.
    ///   - detail: How closely waits are looked at.
    ///   - findDate: The calendar.
    ///   - record: Called with every line that a real host would record.
    /// - Returns: What it came to.
    public func run(
        device: Int, detail: Tally.Detail, findDate: @escaping VirtualHost.DateFinder,
        recordingTo record: ((RecordedEntry) -> Void)? = nil
    ) -> Tally {
        var numbers = SeededNumbers(seed: seed, part: UInt64(device))
        let kind = kinds[device % kinds.count]
        let (worldSeed, launchSeed) = (numbers.next(), numbers.next())
        let world = DeviceDays(
            kind, days: days, numbers: SeededNumbers(seed: worldSeed), manifests: manifests)
        let now = Moment(boot: .zero, monotonic: .zero, wall: Self.start)
        var host = VirtualHost(
            at: now, model: TypicalLaunches(seed: launchSeed), detail: detail, findDate: findDate)
        host.record = record
        for (at, occurrence) in world.occurrences { host.add(occurrence, at: at) }
        host.begin(VirtualBeginning(settings: settings, manifests: manifests, isBooted: true))
        host.run(until: .seconds(86_400) * days)
        return host.tally
    }

    /// Runs every device, on all cores.
    ///
    /// - Parameters:
    ///   - detail: How closely waits are looked at.
    ///   - findDate: The calendar; called on several threads.
    ///   - report: Called with each device's number and tally, in the order in which they are done.
    public func run(
        detail: Tally.Detail, findDate: @escaping VirtualHost.DateFinder,
        report: (Int, Tally) throws -> Void
    ) async rethrows {
        let width = 8
        try await withThrowingTaskGroup(of: (Int, Tally).self) { group in
            var next = 0
            func add() {
                let device = next
                next += 1
                group.addTask { (device, run(device: device, detail: detail, findDate: findDate)) }
            }
            while next < min(width, devices) { add() }
            for try await (device, tally) in group {
                if next < devices { add() }
                try report(device, tally)
            }
        }
    }
}
