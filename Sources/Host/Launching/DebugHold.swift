import LinuxSystem

/// Decides whether the deadlines and the CPU limit of a launch are paused, if `bgtask launch --debug`
/// started it.
///
/// They are paused while a debugger is attached, and while the process has stopped itself before its handler
/// to wait for a debugger. A launch that continues without a debugger is treated like any other.
struct DebugHold: Equatable, Sendable {
    /// How often the host examines the processes of a launch under `--debug`.
    static let interval = Duration.seconds(1)

    /// Whether a debugger is attached; then the grace period is paused, too.
    private(set) var isTraced = false
    /// Whether the process still waits before its handler.
    private(set) var isBeforeHandler = true

    /// Whether the launch's deadlines and CPU limit are paused.
    var isHeld: Bool { isTraced || isBeforeHandler }

    /// Updates the state from the newest examination of the processes.
    mutating func look(_ tracing: ProcessTracing) {
        isTraced = tracing.isTraced
        if !tracing.isTraced && !tracing.isStopped { isBeforeHandler = false }
    }
}
