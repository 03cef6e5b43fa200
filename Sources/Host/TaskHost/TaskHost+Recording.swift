import Recording
import Scheduling
import SystemConditions
import TaskModel

/// What the host keeps of its past besides the store: the log of events, and the conditions that forecasts are made from.
extension TaskHost {
    /// Tells the scheduler, and the log; every event of the scheduler's comes by here.
    func tell(_ event: SchedulerEvent) -> [SchedulerAction] {
        let now = moments.now()
        recorder?.record(event, at: now)
        if case .conditionsChanged(let conditions) = event { history.note(conditions, at: now.wall) }
        let actions = scheduler.handle(event, at: now)
        if let recorder, recorder.wantsSegment(at: now), let events = scheduler.recap() {
            recorder.begin(at: now, isContinued: true)
            for event in events { recorder.record(event, at: now) }
        }
        return actions
    }

    /// Tells the scheduler something before it starts: then it only remembers.
    func remember(_ event: SchedulerEvent) { _ = tell(event) }

    /// The machine falls asleep or woke.
    func note(_ occurrence: RecordedEntry.Occurrence) {
        let now = moments.now()
        recorder?.record(RecordedEntry(at: now, occurrence))
        history.note(occurrence == .willSleep ? nil : sensors.snapshot(), at: now.wall)
    }

    /// When a request that waits would likely start; `nil` for one that may start now.
    func forecast(_ request: TaskRequest, _ explanation: Explanation, at now: Moment) -> Forecast? {
        explanation.mayStart ? nil : scheduler.forecast(request, from: history, at: now)
    }

    /// Reads the conditions of earlier runs of the host out of the log.
    func loadHistory() async {
        guard recorder != nil else { return }
        let directory = configuration.recordingDirectory
        let start = moments.now().wall + (.zero - ConditionHistory.span)
        // Up to 64 MiB of JSON: not on the actor, which has a host to start.
        history = await Task.detached { ConditionHistory(recordedIn: directory, since: start) }.value
    }
}

extension HostConfiguration {
    /// Where the log of events is.
    var recordingDirectory: String { stateDirectory + "/recording" }
}
