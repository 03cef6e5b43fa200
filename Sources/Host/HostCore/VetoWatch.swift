import Scheduling
import TaskModel

/// Selects the pending requests to judge again, so that followers of events learn of every change of the
/// policies that hold a request.
///
/// Judging one request takes about 20 us (Documentation/Benchmarks.md), so requests that an event can't
/// affect are not judged. An event that can affect all requests causes a round: all pending requests are
/// judged, newest first, because users wait for those.
///
/// A round is judged in parts, one after each event, because the host does nothing else meanwhile. No
/// separate task judges the rest: with 100,000 pending requests and launches that end all the time, it would
/// keep a core busy forever.
struct VetoWatch {
    /// The maximum number of requests that are judged after one event: 1,000, which takes about 20 ms.
    static let part = 1000

    /// The names of the policies that the last event for each request contained.
    ///
    /// What the policies observed is not compared, because it may change every second.
    private var told: [RequestID: [String]] = [:]
    /// The requests that were added since the last part.
    private var new: [RequestID] = []
    /// The requests that the present round has not judged yet, newest last.
    private var rest: [RequestID] = []
    /// Whether an event since the beginning of the present round requires another round.
    private var needsRound = true

    /// Notes an event of the scheduler, and the actions that it caused.
    mutating func note(_ event: SchedulerEvent, _ actions: [SchedulerAction]) {
        switch event {
        // These events are frequent, and do not affect the start of other requests.
        case .progressed, .launchActive, .cpuMeasured: return
        case .submitted(let request):
            new.append(request.id)
            // A request affects others only if it is launched, because it then uses a slot and budget.
            let launches = actions.contains { if case .launch = $0 { true } else { false } }
            if launches { needsRound = true }
        case .started, .settingsChanged, .handlersChanged, .conditionsChanged, .outlookChanged,
            .preparingForSleep, .pressureBegan, .pauseChanged, .bundlePaused, .crashPauseEnded,
            .localTimeChanged, .localTimeChanges,
            .lastLaunched,
            .bundleRestored, .used, .dismissed, .refreshSwitched, .budgetChanged, .foregroundChanged,
            .withdrawn,
            .scheduleNotStored, .scheduleDated, .scheduleTriggered, .simulate, .launchStarted,
            .launchNotStarted,
            .launchReady, .answered, .tracingChanged, .expireRequested, .launchExpiring, .launchEnded,
            .timePassed,
            .shutdown:
            needsRound = true
        }
    }

    /// Adds a request that has become durable, so that events may contain it.
    mutating func enter(_ request: RequestID) { new.append(request) }

    /// Returns the requests to judge now; some of them may not be pending any more.
    mutating func takePart(of pending: some Collection<RequestID>) -> [RequestID] {
        var part = new
        new = []
        if rest.count < Self.part, needsRound {
            // The rest of the last round comes first. Otherwise, the oldest requests might never be judged if
            // events are frequent.
            part += rest.reversed()
            rest = pending.sorted()
            needsRound = false
        }
        let count = min(rest.count, max(0, Self.part - part.count))
        part += rest.suffix(count).reversed()
        rest.removeLast(count)
        return part
    }

    /// Stops judging, because no client follows the events; when a client does again, a round begins.
    mutating func pause() {
        new = []
        rest = []
        needsRound = true
    }

    /// Whether these policies differ from those that the last event for a request contained.
    ///
    /// If they do, the function stores them as published. An empty list never differs: the request is then
    /// about to start.
    mutating func isNews(_ policies: [String], of request: RequestID) -> Bool {
        if policies.isEmpty || told[request] == policies { return false }
        told[request] = policies
        return true
    }

    /// Removes what was published for a request that is not pending any more.
    mutating func forget(_ request: RequestID) { told[request] = nil }
}
