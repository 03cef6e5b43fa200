import LinuxSystem

/// What makes the lease, the stall and the CPU limit of a launch under `--debug` pause; pure.
///
/// A debugger that is attached, and the stop before the handler that waits for one. A launch that goes on
/// without a debugger is a launch like any other.
struct DebugHold: Equatable, Sendable {
    /// How often such a launch is looked at.
    static let interval = Duration.seconds(1)

    /// Whether a debugger is attached; then the grace period is paused, too.
    private(set) var isTraced = false
    /// Whether it has not gone on since it stopped itself before its handler.
    private(set) var isBeforeHandler = true

    /// Whether its clocks are paused.
    var isHeld: Bool { isTraced || isBeforeHandler }

    /// Takes a look at its processes.
    mutating func look(_ tracing: ProcessTracing) {
        isTraced = tracing.isTraced
        if !tracing.isTraced && !tracing.isStopped { isBeforeHandler = false }
    }
}
