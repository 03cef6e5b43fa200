/// What happens in the host, for its followers: `--wait`, `bgtask logs`, dashboards.
///
/// Events of one request come in the order of its life: accepted, any number of blocked, then per attempt
/// started, ready, progress, expiring, ended; an ended launch says itself whether its request is pending
/// again, so that a follower knows the last attempt from this event.
public enum HostEvent: Equatable, Sendable {
    /// A request is durable.
    case requestAccepted(TaskRequest)
    /// A pending request can't start, for these reasons; sent again when the vetoes change.
    case requestBlocked(TaskRequest, [Verdict])
    /// A pending request is gone without a launch: cancelled, replaced, or no longer permitted.
    case requestCancelled(RequestID, TaskIdentifier, Reason)
    /// A launch is recorded and asked of the launcher.
    case launchStarted(LaunchRecord)
    /// Its handler was called.
    case launchReady(LaunchID, RequestID, at: WallTime)
    /// It reported progress; the newest report counts, and older ones may be left out.
    case progress(LaunchID, RequestID, TaskProgress)
    /// The user should see another title and subtitle of it from now on; the newest wins, older ones may be
    /// left out.
    case titleChanged(LaunchID, RequestID, title: String, subtitle: String)
    /// It has stopped or is slow, and the user is asked whether it should continue; no answer means yes.
    case launchAsked(LaunchID, RequestID, Rationale)
    /// It was asked to stop.
    case launchExpiring(LaunchID, RequestID, Reason)
    /// It is over. `putBack` is its request if that is pending again, `nil` if this was the last attempt.
    case launchEnded(LaunchRecord, putBack: TaskRequest?)
    /// The host stops; the stream ends after this.
    case hostStopping

    /// Whether a slow reader may miss it: progress and titles, as newer ones say it all again, and the end
    /// does.
    public var isDispensable: Bool {
        switch self {
        case .progress, .titleChanged: true
        default: false
        }
    }

    /// The request that it is about; `nil` for ``hostStopping``.
    public var request: RequestID? {
        switch self {
        case .requestAccepted(let request), .requestBlocked(let request, _): request.id
        case .requestCancelled(let id, _, _), .launchReady(_, let id, _), .progress(_, let id, _),
            .titleChanged(_, let id, _, _), .launchAsked(_, let id, _), .launchExpiring(_, let id, _):
            id
        case .launchStarted(let record), .launchEnded(let record, _): record.request
        case .hostStopping: nil
        }
    }
}
