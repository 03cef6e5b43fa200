import Scheduling
import TaskModel

/// Reports of progress and checkpoints that the scheduler does not have yet.
///
/// Launches report up to 20 times a second. The scheduler gets one report in a `ratePeriod` of the settings,
/// and the newest one before every decision that depends on it. So it decides as if it had all of them, and
/// the recording has what it decided on. All times are on CLOCK_MONOTONIC.
struct ActivityBook: Sendable {
    private struct Activity: Sendable {
        /// The newest progress, without its text.
        var progress: TaskProgress?
        /// When the scheduler last got a report or a checkpoint of the launch; `nil` if never.
        var givenAt: Duration?
        /// When the progress that the scheduler has was reported; `nil` if it has none.
        var knownChange: Duration?
        /// When the progress that the scheduler lacks was reported; `nil` if it has the newest.
        var heldChange: Duration?
        /// Whether the scheduler does not know of the newest checkpoint.
        var holdsCheckpoint = false
    }

    private var activities: [LaunchID: Activity] = [:]
    /// When the scheduler must get what is held of each launch.
    private var due: [LaunchID: Duration] = [:]
    /// No time in ``due`` is before this one.
    private var earliest = Duration.zero

    /// Takes a report of progress, and returns the events that the scheduler gets now.
    mutating func report(
        _ progress: TaskProgress, of id: LaunchID, at now: Duration, _ settings: SchedulerSettings
    ) -> [SchedulerEvent] {
        var activity = activities[id] ?? Activity()
        let units = TaskProgress(completed: progress.completed, total: progress.total)
        guard units != activity.progress else { return [] }
        activity.progress = units
        activity.heldChange = now
        return keep(activity, of: id, at: now, settings)
    }

    /// Takes a checkpoint, and returns the events that the scheduler gets now.
    mutating func saveCheckpoint(
        of id: LaunchID, at now: Duration, _ settings: SchedulerSettings
    ) -> [SchedulerEvent] {
        var activity = activities[id] ?? Activity()
        activity.holdsCheckpoint = true
        return keep(activity, of: id, at: now, settings)
    }

    private mutating func keep(
        _ activity: Activity, of id: LaunchID, at now: Duration, _ settings: SchedulerSettings
    ) -> [SchedulerEvent] {
        activities[id] = activity
        let time = Self.due(activity, settings)
        if time <= now { return give(id, at: now) }
        earliest = due.isEmpty ? time : min(earliest, time)
        due[id] = time
        return []
    }

    /// When the scheduler must get what is held: after a period, and before it can find a stall.
    private static func due(_ activity: Activity, _ settings: SchedulerSettings) -> Duration {
        guard let given = activity.givenAt else { return .zero }
        // The first progress is passed on at once: before it, a stall counts from the launch's beginning.
        if activity.heldChange != nil, activity.knownChange == nil { return .zero }
        let period = given + settings.ratePeriod
        guard activity.heldChange != nil, let known = activity.knownChange else { return period }
        return min(period, known + min(settings.stallQuestion, settings.stallLimit))
    }

    /// Returns the events that the scheduler must get before another one.
    ///
    /// While memory is short, each event may end the launch with the least progress, so all progress counts.
    mutating func given(
        before event: SchedulerEvent, at now: Duration, isShortOfMemory: Bool = false
    ) -> [SchedulerEvent] {
        var events: [SchedulerEvent] = []
        var isShortOfMemory = isShortOfMemory
        if case .conditionsChanged(let conditions) = event {
            isShortOfMemory = conditions.pressure.value?.memory == true
        }
        if isShortOfMemory { for id in due.keys.sorted() { events += give(id, at: now) } }
        if !due.isEmpty, now >= earliest {
            for id in due.filter({ $0.value <= now }).keys.sorted() { events += give(id, at: now) }
            earliest = due.values.min() ?? .zero
        }
        switch event {
        case .cpuMeasured(let id, _), .answered(let id, _), .tracingChanged(let id, _),
            .expireRequested(let id, _), .launchExpiring(let id):
            events += give(id, at: now)
        case .launchEnded(let id, _, _):
            events += give(id, at: now)
            activities[id] = nil
        default: break
        }
        return events
    }

    private mutating func give(_ id: LaunchID, at now: Duration) -> [SchedulerEvent] {
        due[id] = nil
        guard var activity = activities[id] else { return [] }
        defer { activities[id] = activity }
        var events: [SchedulerEvent] = []
        if let changedAt = activity.heldChange, let progress = activity.progress {
            events.append(
                .progressed(id, progress, changedAt: changedAt == now ? nil : changedAt))
            (activity.knownChange, activity.heldChange) = (changedAt, nil)
        }
        // A change of progress shows activity as well as a checkpoint does.
        if activity.holdsCheckpoint, events.isEmpty { events.append(.launchActive(id)) }
        activity.holdsCheckpoint = false
        if !events.isEmpty { activity.givenAt = now }
        return events
    }
}
