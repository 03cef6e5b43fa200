/// An event of a launch; the events of one launch arrive in order.
public enum LaunchEvent: Sendable, Equatable {
    /// The task's process exists; its number is for display and debuggers only.
    case started(LaunchID, pid: Int32)
    /// The task is about to call its handler; the lease starts.
    case ready(LaunchID, at: Moment)
    /// The newest progress; at most 20 events per second, and the last one always arrives.
    case progress(LaunchID, TaskProgress)
    /// A line that the handler logged.
    case log(LaunchID, level: LogLine.Level, message: String, subsystem: String?, category: String?)
    /// Advice for the plugin's author; at most 100 pieces per launch.
    case advice(LaunchID, code: String, message: String)
    /// The task reports why it is about to end itself; at most once, and the `ended` event repeats it.
    case faulted(LaunchID, LaunchFault)
    /// The title and subtitle that the user should see; at most 20 events per second, and the last one always
    /// arrives.
    case titleChanged(LaunchID, title: String, subtitle: String)
    /// The task completed without ever having listened for an expiration.
    case neverListened(LaunchID)
    /// A line that the task printed, without control characters and cut to the maximum length.
    case output(LaunchID, stream: OutputStream, line: String)
    /// The newest checkpoint; empty bytes delete it.
    ///
    /// The last checkpoint always arrives before `ended`.
    case checkpoint(LaunchID, [UInt8])
    /// The handler submits a request; answer with `reply`.
    case submit(LaunchID, call: UInt64, TaskSubmission)
    /// The handler cancels the requests of one identifier or, with `nil`, of its bundle; answer with `reply`.
    case cancel(LaunchID, call: UInt64, TaskIdentifier?)
    /// The handler requests the list of its bundle's pending requests; answer with `reply`.
    case pending(LaunchID, call: UInt64)
    /// The handler asks something about the background sessions of its bundle, as a JSON object; answer with
    /// `reply`.
    case sessionCall(LaunchID, call: UInt64, [UInt8])
    /// The task began an assertion, which keeps its process alive after completion.
    case assertionBegan(LaunchID, assertion: UInt64, name: String)
    /// The task ended an assertion.
    case assertionEnded(LaunchID, assertion: UInt64)
    /// The host sent the message *expire*; the grace period begins now.
    case expiring(LaunchID, Reason, at: Moment)
    /// A launch under `--debug` is held now (true), or not any more (false).
    ///
    /// It is held while it waits before its handler or while a debugger is attached.
    case tracingChanged(LaunchID, isTraced: Bool)
    /// The launch has used half of its CPU quota.
    case cpuWarning(LaunchID, message: String)
    /// Five seconds after the kill, processes of the launch still exist; `ended` follows when they are gone.
    case unkillable(LaunchID)
    /// The launch is over and all its processes are gone; exactly once per launch.
    case ended(EndedLaunch)
    /// The template of a bundle ended, or was ended, while no launch waited for it; the next launch starts
    /// another.
    case templateEnded(BundleIdentifier, message: String)
    /// The launcher died and is being replaced; every running launch ends as `lost`.
    case launcherDied(message: String)
    /// The host could not replace the launcher, so nothing starts.
    ///
    /// It tries again every 5 s.
    case launcherUnavailable(message: String)
}

/// The output stream of a task that a line came from.
public enum OutputStream: String, Sendable, Codable, CaseIterable {
    /// Standard output.
    case stdout
    /// Standard error.
    case stderr
}
