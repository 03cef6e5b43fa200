/// What happens to launches, in order per launch.
public enum LaunchEvent: Sendable, Equatable {
    /// Its process exists; the number is for display and debuggers only.
    case started(LaunchID, pid: Int32)
    /// Its handler is called next; the lease starts.
    case ready(LaunchID, at: Moment)
    /// The newest progress; at most 20 a second, the last one always.
    case progress(LaunchID, TaskProgress)
    /// A line that the handler logged.
    case log(LaunchID, level: LogLine.Level, message: String, subsystem: String?, category: String?)
    /// A word for the plugin's author; at most 100 of a launch.
    case advice(LaunchID, code: String, message: String)
    /// It says why it is about to end itself; at most once, and its end says it too.
    case faulted(LaunchID, LaunchFault)
    /// What the user should see of it from now on; at most 20 a second, the last one always.
    case titleChanged(LaunchID, title: String, subtitle: String)
    /// It has completed, and never listened for an expiration.
    case neverListened(LaunchID)
    /// A line that it printed, made harmless and capped.
    case output(LaunchID, stream: OutputStream, line: String)
    /// The newest checkpoint; empty forgets. The last one always comes, before `ended`.
    case checkpoint(LaunchID, [UInt8])
    /// The handler submits; answer with `reply`.
    case submit(LaunchID, call: UInt64, TaskSubmission)
    /// The handler cancels one identifier or, with `nil`, all of its bundle; answer with `reply`.
    case cancel(LaunchID, call: UInt64, TaskIdentifier?)
    /// The handler asks for its bundle's pending requests; answer with `reply`.
    case pending(LaunchID, call: UInt64)
    /// It holds itself alive.
    case assertionBegan(LaunchID, assertion: UInt64, name: String)
    /// It let go.
    case assertionEnded(LaunchID, assertion: UInt64)
    /// The expire frame was written; the grace period runs from here.
    case expiring(LaunchID, Reason, at: Moment)
    /// A launch under `--debug` is held: it has stopped before its handler, or a debugger is attached; or
    /// neither any more.
    case tracingChanged(LaunchID, isTraced: Bool)
    /// Half of the CPU quota is spent.
    case cpuWarning(LaunchID, message: String)
    /// Five seconds after the kill its processes are still there; `ended` follows when they go.
    case unkillable(LaunchID)
    /// It is over and its group is empty; exactly once per launch.
    case ended(EndedLaunch)
    /// The launcher died and is being replaced; every launch that ran ends as `lost`.
    case launcherDied(message: String)
    /// The launcher could not be replaced yet: nothing starts until it is. It is tried again every 5 s.
    case launcherUnavailable(message: String)
}

/// Which of a task's output streams a line came from.
public enum OutputStream: String, Sendable, Codable, CaseIterable {
    /// Standard output.
    case stdout
    /// Standard error.
    case stderr
}
