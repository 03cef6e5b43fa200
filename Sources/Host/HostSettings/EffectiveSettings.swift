public import Scheduling
public import TaskModel

/// Everything that can be configured, with the values in force.
public struct EffectiveSettings: Equatable, Sendable {
    /// Where the conditions come from.
    public enum ConditionSource: String, Sendable, CaseIterable {
        /// The machine's sensors.
        case system
        /// A mains-powered, idle, cool machine, until `bgtask conditions set` says otherwise.
        case simulated
    }

    /// The group kill that launches get.
    public enum Isolation: String, Sendable, CaseIterable {
        /// What the machine offers, the strongest first.
        case strongest
        /// See `GroupKill`.
        case cgroup, pidNamespace, noFork
    }

    /// The scheduler's numbers and switches.
    public var scheduler = SchedulerSettings()
    /// Where things are.
    public var paths: HostPaths
    /// Launches of the history that are kept at least.
    public var keptLaunches = 10_000
    /// Launches younger than this are kept as well.
    public var keptAge = Duration.seconds(30 * 86_400)
    /// How long a loaded template stays without a launch.
    public var templateIdleTime = Duration.seconds(300)
    /// Where the conditions come from.
    public var conditions = ConditionSource.system
    /// Forces a weaker group kill than the machine offers.
    public var isolation = Isolation.strongest
    /// Log lines of this level and above are written.
    public var logLevel = LogLine.Level.info
    /// Whether what the scheduler sees is recorded for a replay.
    public var isRecording = true
    /// The most that a recording may take on the disk.
    public var recordingLimit = ByteCount.mebibytes(64)

    /// Makes the standard values.
    public init(paths: HostPaths) {
        self.paths = paths
    }

    /// The group kill that is forced; `nil` takes the strongest.
    public var groupKill: GroupKill? { GroupKill(rawValue: isolation.rawValue) }

    /// The most bytes that a recording may take; `nil` records nothing.
    public var recordingSize: Int64? { isRecording ? recordingLimit.bytes : nil }
}
