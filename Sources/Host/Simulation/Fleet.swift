public import Recording
public import Scheduling
public import TaskModel

/// Simulated devices with generated days; each runs the core of a real host.
public struct Fleet: Sendable {
    /// The kinds of the devices, assigned in turn.
    public var kinds: [DeviceKind]
    /// The number of devices.
    public var devices = 1
    /// The number of days that are simulated for each device.
    public var days = 1
    /// Whether each device's user uses the bundles at the same times each day; otherwise, the times are
    /// random.
    public var hasHabits = false
    /// The seed of all random numbers.
    public var seed: UInt64
    /// The settings of each device's scheduler.
    public var settings = SchedulerSettings()
    /// The manifests that are installed on each device.
    public var manifests: [Manifest]

    /// Creates a fleet.
    public init(kinds: [DeviceKind], manifests: [Manifest], seed: UInt64) {
        self.kinds = kinds
        self.manifests = manifests
        self.seed = seed
    }

    /// The start of the virtual clocks: Monday, 2026-01-05 00:00 UTC; the devices' local time is UTC.
    public static let start = WallTime(sinceEpoch: .seconds(1_767_571_200))

    /// Simulates one device; the same seed and device number give the same result on every machine.
    ///
    /// - Parameters:
    ///   - device: The number of the device, from 0.
    ///   - detail: How closely waits are examined.
    ///   - findDate: Finds the dates of calendar schedules.
    ///   - record: Called with each line that a real host would record.
    /// - Returns: The launches and waits of the device.
    public func run(
        device: Int, detail: Tally.Detail, findDate: @escaping VirtualHost.DateFinder,
        recordingTo record: ((RecordedEntry) -> Void)? = nil
    ) -> Tally {
        var numbers = SeededNumbers(seed: seed, part: UInt64(device))
        let kind = kinds[device % kinds.count]
        let (worldSeed, launchSeed) = (numbers.next(), numbers.next())
        let world = DeviceDays(
            kind, days: days, numbers: SeededNumbers(seed: worldSeed), hasHabits: hasHabits,
            manifests: manifests)
        let now = Moment(boot: .zero, monotonic: .zero, wall: Self.start)
        var host = VirtualHost(
            at: now, model: TypicalLaunches(seed: launchSeed), detail: detail, findDate: findDate)
        host.record = record
        for (at, occurrence) in world.occurrences { host.add(occurrence, at: at) }
        host.begin(VirtualBeginning(settings: settings, manifests: manifests, isBooted: true))
        host.run(until: .seconds(86_400) * days)
        return host.tally
    }

    /// Simulates all devices, up to eight at the same time.
    ///
    /// - Parameters:
    ///   - detail: How closely waits are examined.
    ///   - findDate: Finds the dates of calendar schedules; called on several threads.
    ///   - report: Called with the number and the result of each device, as soon as the device is done.
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
