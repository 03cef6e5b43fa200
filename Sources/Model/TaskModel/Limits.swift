/// The run time granted to one launch, and the time to finish after expiration.
public struct Lease: Hashable, Sendable, Codable {
    /// Run time on CLOCK_BOOTTIME, from the task's *ready* on; `nil` has no end of its own.
    public let duration: Duration?
    /// Time from the writing of the expire frame until everything is killed, on CLOCK_MONOTONIC.
    public let gracePeriod: Duration

    /// Makes a lease from numbers that were checked already.
    public init(duration: Duration?, gracePeriod: Duration) {
        self.duration = duration
        self.gracePeriod = gracePeriod
    }

    /// The lease of a kind, unless a manifest sets another.
    ///
    /// 30 s for a refresh and "several minutes" for processing are Apple's (WWDC 2019, session 707), which
    /// promises neither; grace periods are ours: long enough to flush a file, short enough to shut down in.
    public static func standard(for kind: TaskKind) -> Lease {
        switch kind {
        case .appRefresh, .push, .transferEvents, .appLaunch:
            Lease(duration: .seconds(30), gracePeriod: .seconds(5))
        case .processing, .activity: Lease(duration: .seconds(600), gracePeriod: .seconds(10))
        case .continuedProcessing: Lease(duration: nil, gracePeriod: .seconds(10))
        }
    }
}

/// A limit of CPU-seconds inside a sliding wall window, over a launch and all its descendants.
public struct CPULimit: Hashable, Sendable, Codable {
    /// Percent of one core, 1 and up; 200 is two cores.
    public let percent: Int
    /// The window, on CLOCK_MONOTONIC.
    public let window: Duration

    public init(percent: Int, window: Duration) {
        self.percent = percent
        self.window = window
    }

    /// 80 % of one core over 60 s: 48 CPU-seconds, the limit of Apple's public CPU reports.
    public static let standard = CPULimit(percent: 80, window: .seconds(60))

    /// The CPU time that may be spent inside one window.
    public var quota: Duration { window * percent / 100 }
}

/// What one launch may use.
public struct LaunchLimits: Hashable, Sendable, Codable {
    /// Run time and grace.
    public var lease: Lease
    /// `nil` has no fatal CPU limit.
    public var cpu: CPULimit?
    /// Resident memory of the launch and its descendants.
    public var memory: ByteCount

    /// Makes limits from checked parts.
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
