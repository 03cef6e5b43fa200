public import TaskModel

/// What a launch has used so far, with everything that it started.
public struct LaunchUsage: Sendable, Equatable {
    /// CPU time.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, for want of a cgroup.
    public var cpuIsLowerBound: Bool
    /// The most resident memory that was seen; `nil` before the first look.
    public var peakMemory: ByteCount?
}
