/// The share of the machine that a launch gets while other work runs.
///
/// The scheduler chooses it when a launch starts, and again whenever the bundle's client enters or leaves the
/// foreground.
public struct LaunchPriority: Equatable, Hashable, Sendable, Codable {
    /// The kernel's scheduling class for disk I/O.
    public enum IOClass: String, Sendable, Codable, CaseIterable {
        /// The kernel serves the request only while no other process uses the disk.
        case idle
        /// The kernel's default class.
        case bestEffort
    }

    /// The number that is added to the task's nice value: 0 through 19.
    public var nice: Int
    /// Whether the kernel schedules the task as batch work (`SCHED_BATCH`).
    public var isBatch: Bool
    /// The scheduling class for disk I/O.
    public var ioClass: IOClass
    /// The `cpu.weight` of the task's control group: 1 through 10,000; the kernel's default is 100.
    public var cpuWeight: Int

    public init(nice: Int, isBatch: Bool, ioClass: IOClass, cpuWeight: Int) {
        self.nice = nice
        self.isBatch = isBatch
        self.ioClass = ioClass
        self.cpuWeight = cpuWeight
    }

    /// For deferrable work: nice 10, batch, idle I/O, a fifth of the default CPU weight.
    public static let discretionary = LaunchPriority(
        nice: 10, isBatch: true, ioClass: .idle, cpuWeight: 20)
    /// For the deferrable launches that start, one at a time, under pressure that does not end: nice 19,
    /// batch, idle I/O, the least CPU weight.
    ///
    /// Not `SCHED_IDLE`: a host without privileges could not take a launch out of that class again.
    public static let idle = LaunchPriority(nice: 19, isBatch: true, ioClass: .idle, cpuWeight: 1)
    /// For work that is not deferrable, while no client of the bundle is in the foreground: nice 5, half of
    /// the default CPU weight.
    public static let requested = LaunchPriority(
        nice: 5, isBatch: false, ioClass: .bestEffort, cpuWeight: 50)
    /// For work of a bundle whose client is in the foreground: the same as any program.
    public static let foreground = LaunchPriority(
        nice: 0, isBatch: false, ioClass: .bestEffort, cpuWeight: 100)
}
