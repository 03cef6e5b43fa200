public import TaskModel

/// The resources that a launch and all its processes have used so far.
public struct LaunchUsage: Sendable, Equatable {
    /// The CPU time of all processes.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, because the launch has no cgroup.
    public var cpuIsLowerBound: Bool
    /// The greatest resident memory that was measured; `nil` before the first measurement.
    public var peakMemory: ByteCount?
    /// What the launch moved over the network; `nil` if nothing counts it.
    public var network: NetworkBytes?
}
