public import TaskModel

/// When a request may start, when the host wakes for it, and when it starts in any case.
///
/// ```
///       ripe                    wake                due
/// ───────┼───────────────────────┼───────────────────┼──────▶
///        │ starts with any       │ the host wakes    │ starts whatever
///        │ event, if its score   │ for it, if its    │ its score is
///        │ suffices              │ score suffices    │
/// ```
///
/// From ``ripe`` on, a request starts with the next event that the host gets anyway: a launch of another
/// request, the end of one, or a change of the conditions. Only if no such event comes, the host sets an
/// alarm for ``wake``. So one alarm serves all requests whose windows overlap: always waking for the window
/// that ends first, and then starting everything that is ripe, needs the least possible number of alarms.
///
/// A policy with a veto keeps a request waiting at any of these times.
public struct LaunchWindow: Equatable, Sendable {
    /// The earliest begin date; for a request without one, the time of its submission.
    public let ripe: WallTime
    /// When the host wakes for the request, if it has not started with another event.
    public let wake: WallTime
    /// When the threshold for the score reaches 0, so that only a veto still delays the request.
    public let due: WallTime
    /// Whether a manifest or a client chose the end of the window.
    public let isGiven: Bool

    /// How long before the end of a window the host wakes for it: 1 min, and at most a tenth of the window.
    ///
    /// Our choice, measured: one alarm serves several requests, which need slots one after the other. With an
    /// alarm at the end, all but the first ones would begin after their windows; with 20 s before it, 28 % of
    /// the launches of 20 refreshes with the same window. But the longer this time is, the more windows have
    /// alarms of their own, because they overlap by less than it: 1 min costs 2 % more wake-ups than 20 s.
    static let slack = Duration.seconds(60)

    /// Determines the window of a request.
    ///
    /// The request of a schedule is due at its deadline, and so is that of an activity with an interval,
    /// because a manifest or a client chose this time. The host wakes for it shortly before. A stored
    /// request keeps only its deadline: that of an activity was chosen if it comes earlier than the host's
    /// own would.
    ///
    /// All other requests are due at their deadline, too, but that is days later. The host wakes for them
    /// after a quarter of the time that the client asked to wait, and at most ``SchedulerSettings/wakeDelay``
    /// after the beginning of the window. There is no such delay for a push, because it brings news, and for
    /// a further attempt, because the first one had the window.
    public init(_ request: TaskRequest, _ settings: SchedulerSettings) {
        ripe = max(request.effectiveBeginDate ?? request.submittedAt, request.submittedAt)
        due = max(ripe, request.deadline)
        let standard = min(settings.deadlineDelay, settings.deadlineDelayInUse)
        let hasInterval =
            request.kind == .activity && request.submission.startDeadline == nil && due - ripe < standard
        isGiven =
            request.submission.origin == .schedule || request.submission.deadline != nil || hasInterval
        if !request.isDiscretionary || request.kind == .push || request.notBefore != nil
            || request.attempt > 1
        {
            wake = ripe
        } else if isGiven {
            wake = due + (.zero - min(Self.slack, (due - ripe) / 10))
        } else {
            wake = min(due, ripe + min((ripe - request.submittedAt) / 4, settings.wakeDelay))
        }
    }
}
