/// How much of the machine a launch gets while other work runs.
///
/// The scheduler decides it when a launch starts and again whenever its client comes to the foreground or
/// leaves it.
public struct LaunchPriority: Equatable, Hashable, Sendable, Codable {
    /// The kernel's class for disk requests.
    public enum IOClass: String, Sendable, Codable, CaseIterable {
        /// Served when no other work waits.
        case idle
        /// The usual class.
        case bestEffort
    }

    /// Added to the task's nice value: 0 through 19.
    public var nice: Int
    /// Whether the kernel schedules it as batch work (`SCHED_BATCH`).
    public var isBatch: Bool
    /// Its class for disk requests.
    public var ioClass: IOClass
    /// `cpu.weight` of its control group: 1 through 10,000; the kernel's own default is 100.
    public var cpuWeight: Int

    public init(nice: Int, isBatch: Bool, ioClass: IOClass, cpuWeight: Int) {
        self.nice = nice
        self.isBatch = isBatch
        self.ioClass = ioClass
        self.cpuWeight = cpuWeight
    }

    /// Deferrable work: nice 10, batch, idle I/O, a fifth of the usual CPU weight.
    public static let discretionary = LaunchPriority(
        nice: 10, isBatch: true, ioClass: .idle, cpuWeight: 20)
    /// Work that a user asked for and does not look at: nice 5, half of the usual CPU weight.
    public static let requested = LaunchPriority(
        nice: 5, isBatch: false, ioClass: .bestEffort, cpuWeight: 50)
    /// While the client is in the foreground: as any program.
    public static let foreground = LaunchPriority(
        nice: 0, isBatch: false, ioClass: .bestEffort, cpuWeight: 100)
}
