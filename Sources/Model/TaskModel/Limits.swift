/// The run time granted to one launch, and the time to finish after expiration.
public struct Lease: Hashable, Sendable, Codable {
    /// Run time on CLOCK_BOOTTIME, from the task's *ready* message on; `nil` means that run time is not
    /// limited.
    public let duration: Duration?
    /// Time from sending the message *expire* until the host kills the launch, on CLOCK_MONOTONIC.
    public let gracePeriod: Duration

    /// Makes a lease from numbers that the caller has checked.
    public init(duration: Duration?, gracePeriod: Duration) {
        self.duration = duration
        self.gracePeriod = gracePeriod
    }

    /// The lease of a kind, unless a manifest sets another.
    ///
    /// The 30 s for a refresh and "several minutes" for processing come from Apple (WWDC 2019, session 707),
    /// which guarantees neither. The grace periods are our choice: long enough to flush a file, short enough
    /// not to delay a shutdown.
    public static func standard(for kind: TaskKind) -> Lease {
        switch kind {
        case .appRefresh, .push, .transferEvents, .appLaunch:
            Lease(duration: .seconds(30), gracePeriod: .seconds(5))
        case .processing, .activity: Lease(duration: .seconds(600), gracePeriod: .seconds(10))
        case .continuedProcessing: Lease(duration: nil, gracePeriod: .seconds(10))
        }
    }
}

/// A limit of CPU time within a sliding window, over a launch and all its descendants.
public struct CPULimit: Hashable, Sendable, Codable {
    /// Percent of one core, at least 1; 200 is two cores.
    public let percent: Int
    /// The length of the window, on CLOCK_MONOTONIC.
    public let window: Duration

    public init(percent: Int, window: Duration) {
        self.percent = percent
        self.window = window
    }

    /// 80 % of one core over 60 s: 48 CPU-seconds, the limit of Apple's public CPU reports.
    public static let standard = CPULimit(percent: 80, window: .seconds(60))

    /// The CPU time that a launch may use within one window.
    public var quota: Duration { window * percent / 100 }
}

/// The resources that one launch may use.
public struct LaunchLimits: Hashable, Sendable, Codable {
    /// The run time and the grace period.
    public var lease: Lease
    /// The CPU limit, which ends the launch; `nil` means that there is none.
    public var cpu: CPULimit?
    /// The limit of resident memory, for the launch and its descendants.
    public var memory: ByteCount
    /// The limit of the space that the bundle's directories occupy; `nil` means that there is none.
    public var storage: ByteCount?

    /// Makes limits from values that the caller has checked.
    public init(lease: Lease, cpu: CPULimit?, memory: ByteCount) {
        self.lease = lease
        self.cpu = cpu
        self.memory = memory
    }

    /// The limits of a kind, unless a manifest sets others.
    public static func standard(for kind: TaskKind) -> LaunchLimits {
        let small: Set<TaskKind> = [.appRefresh, .push, .transferEvents, .appLaunch]
        return LaunchLimits(
            lease: .standard(for: kind), cpu: kind == .continuedProcessing ? nil : .standard,
            memory: small.contains(kind) ? .mebibytes(256) : .gibibytes(1))
    }
}
