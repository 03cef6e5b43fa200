public import Scheduling
public import Signatures
public import TaskModel

/// The values of all settings that can be configured.
public struct EffectiveSettings: Equatable, Sendable {
    /// The source of the machine's conditions.
    public enum ConditionSource: String, Sendable, CaseIterable {
        /// The machine's sensors.
        case system
        /// Invented conditions: external power, an idle device and a nominal temperature. `bgtask conditions
        /// set` changes them.
        case simulated
    }

    /// How the host kills all processes of a launch.
    public enum Isolation: String, Sendable, CaseIterable {
        /// The strongest method that the machine offers.
        case strongest
        /// The method of the same name in `GroupKill`.
        case cgroup, pidNamespace, noFork
    }

    /// The settings of the scheduler.
    public var scheduler = SchedulerSettings()
    /// The paths of directories, the socket and the runner.
    public var paths: HostPaths
    /// The number of newest launches that the host always keeps in the history.
    public var keptLaunches = 10_000
    /// The host also keeps every launch that ended less than this time ago.
    public var keptAge = Duration.seconds(30 * 86_400)
    /// How long a template process keeps its plugin loaded after the plugin's last launch ended.
    public var templateIdleTime = Duration.seconds(300)
    /// The source of the machine's conditions.
    public var conditions = ConditionSource.system
    /// Whether notifications of apps appear on the user's desktop.
    public var showsNotices = true
    /// Which networks are in low-data mode.
    public var lowData = LowDataMode.never
    /// The group kill to use; a value other than `strongest` is for tests.
    public var isolation = Isolation.strongest
    /// What the host does if this machine lacks a layer of isolation that a manifest counts on.
    public enum IsolationRequirement: String, Sendable, CaseIterable {
        /// It refuses the launch.
        case full
        /// It launches with the layers that the machine has.
        case best
    }

    /// What the host does if a layer of isolation is missing.
    public var isolationRequirement = IsolationRequirement.full
    /// The numbers of the users from which each bundle gets its own, if the host runs as root; `nil` for
    /// none.
    ///
    /// Our choice: no convention uses these. They are above the users of systemd's containers and of SSSD,
    /// and below the numbers that a signed 32-bit number can't hold.
    public var bundleUsers: ClosedRange<UInt32>? = 2_100_000_000...2_100_065_535
    /// The group whose members may read through the control socket; empty means none.
    public var readers = ""
    /// The group whose members may submit requests of all bundles; empty means none.
    public var submitters = ""
    /// The groups whose members may submit requests of one bundle.
    public var bundleSubmitters: [BundleIdentifier: String] = [:]
    /// The lowest level of log lines that the host writes to standard error.
    public var logLevel = LogLine.Level.info
    /// How the host writes its log to standard error.
    public var logFormat = LogFormat.automatic
    /// The keys of which one must have signed each manifest, condition and library; without keys, none needs
    /// a signature.
    public var trustedKeys: [PublicKey] = []
    /// The most bytes that the transfers of one bundle may move on metered networks in a day: 1 GiB.
    ///
    /// Our choice: a mobile tariff has a few of them in a month.
    public var meteredTransfersPerDay = ByteCount.gibibytes(1)
    /// The size of the stored log on the disk.
    public var logSize = ByteCount.mebibytes(64)
    /// How long the host keeps lines of the log.
    public var logAge = Duration.seconds(14 * 86_400)
    /// What the stored lines of one launch may occupy.
    public var logPerLaunch = ByteCount.mebibytes(1)
    /// Whether the host records the scheduler's events, for replays and forecasts.
    public var isRecording = true
    /// The maximum size of the recording on the disk.
    public var recordingLimit = ByteCount.mebibytes(64)

    /// The settings of pushes from outside.
    public var pushes = PushSettings()

    /// Creates the default settings with these paths.
    public init(paths: HostPaths) {
        self.paths = paths
    }

    /// The group kill to use; `nil` selects the strongest that the machine offers.
    public var groupKill: GroupKill? { GroupKill(rawValue: isolation.rawValue) }

    /// The maximum size of the recording, in bytes; `nil` if the host records nothing.
    public var recordingSize: Int64? { isRecording ? recordingLimit.bytes : nil }
}
