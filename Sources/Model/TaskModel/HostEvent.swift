/// An event in the host, for clients that follow it, such as `--wait`, `bgtask logs` and dashboards.
///
/// The events of one request arrive in this order: accepted, then for each attempt any number of blocked,
/// started, ready, progress, expiring, ended. The event of an ended launch says whether its request is
/// pending again, so a client can recognize the last attempt.
public enum HostEvent: Equatable, Sendable {
    /// The host has stored a request durably.
    case requestAccepted(TaskRequest)
    /// A pending request cannot start, for these reasons; sent again when the vetoes change.
    case requestBlocked(TaskRequest, [Verdict])
    /// A pending request ended: it was cancelled or replaced, or its schedule, app or client is gone.
    case requestCancelled(RequestID, TaskIdentifier, Reason)
    /// The host has recorded a launch and sent it to the launcher or to a client.
    case launchStarted(LaunchRecord)
    /// The launch is about to call its handler.
    case launchReady(LaunchID, RequestID, at: WallTime)
    /// The launch reported progress; the newest report replaces older ones, and older ones may be left out.
    case progress(LaunchID, RequestID, TaskProgress)
    /// The launch has a different title and subtitle now; the newest event replaces older ones, and older
    /// ones may be left out.
    case titleChanged(LaunchID, RequestID, title: String, subtitle: String)
    /// The launch stopped making progress or is slow, so the host asks the user whether it should continue.
    ///
    /// Without an answer, a slow launch continues, and one without progress is stopped when its limit is
    /// over.
    case launchAsked(LaunchID, RequestID, Rationale)
    /// The host asked the launch to stop.
    case launchExpiring(LaunchID, RequestID, Reason)
    /// The launch has ended.
    ///
    /// `putBack` is its request if that is pending again, and `nil` if this was the last attempt.
    case launchEnded(LaunchRecord, putBack: TaskRequest?)
    /// A transfer was accepted, began, moved bytes, waits or has ended; the newest event replaces older ones.
    case transferChanged(Transfer)
    /// A transfer has ended: the same as ``transferChanged(_:)`` says, for clients that follow nothing else.
    case transferEnded(TransferID, TransferOutcome)
    /// The host is stopping; no event follows.
    case hostStopping

    /// Whether a slow reader may miss the event.
    ///
    /// This is true for progress and titles, and for transfers that have not ended, because newer events and
    /// the end contain them again.
    public var isDispensable: Bool {
        switch self {
        case .progress, .titleChanged: true
        case .transferChanged(let transfer): transfer.state != .ended
        default: false
        }
    }

    /// The request to which the event belongs; `nil` for transfers and ``hostStopping``.
    public var request: RequestID? {
        switch self {
        case .requestAccepted(let request), .requestBlocked(let request, _): request.id
        case .requestCancelled(let id, _, _), .launchReady(_, let id, _), .progress(_, let id, _),
            .titleChanged(_, let id, _, _), .launchAsked(_, let id, _), .launchExpiring(_, let id, _):
            id
        case .launchStarted(let record), .launchEnded(let record, _): record.request
        case .transferChanged, .transferEnded, .hostStopping: nil
        }
    }
}
