import Scheduling
import TaskModel

/// Which pending requests must be asked what holds them, so that followers of the event stream learn of
/// every change.
///
/// Asking one costs about 20 us (Documentation/Benchmarks.md), so what an event can't have changed is not
/// asked. One that can change anything makes a round of all of them, newest first: users wait for those.
/// A round is asked in parts, one an event, because the host does nothing else meanwhile. The rest waits for
/// the next event instead of a task of its own: with 100,000 pending requests and launches that end all the
/// time, such a task would never leave its core again.
struct VetoWatch {
    /// How many requests are asked after one event: 1,000, which keeps the host for 20 ms at most.
    static let part = 1000

    /// The policies that were last said to keep each request; by their names alone: what they observe may
    /// change with every second, and says nothing new.
    private var told: [RequestID: [String]] = [:]
    /// Submitted since the last part.
    private var new: [RequestID] = []
    /// What the round under way has still to ask, the newest last.
    private var rest: [RequestID] = []
    /// Whether something happened that all must be asked after, those that the round under way has asked too.
    private var needsRound = true

    /// Takes in what the scheduler got and answered.
    mutating func note(_ event: SchedulerEvent, _ actions: [SchedulerAction]) {
        switch event {
        // They come by the second, and no policy that decides about a start asks for them.
        case .progressed, .launchActive, .cpuMeasured: return
        case .submitted(let request):
            new.append(request.id)
            // It takes no slot and no budget before it is launched.
            let launches = actions.contains { if case .launch = $0 { true } else { false } }
            if launches { needsRound = true }
        case .started, .settingsChanged, .handlersChanged, .conditionsChanged, .localTimeChanged,
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

    /// A request is durable, and may be spoken of.
    mutating func enter(_ request: RequestID) { new.append(request) }

    /// The requests to ask now; some may be gone since they were entered.
    mutating func takePart(of pending: some Collection<RequestID>) -> [RequestID] {
        var part = new
        new = []
        if rest.count < Self.part, needsRound {
            // What is left of the last round comes first, or frequent events would keep the oldest from ever
            // being asked.
            part += rest.reversed()
            rest = pending.sorted()
            needsRound = false
        }
        let count = min(rest.count, max(0, Self.part - part.count))
        part += rest.suffix(count).reversed()
        rest.removeLast(count)
        return part
    }

    /// No client follows the events: the first event after one does makes a round, whatever it is.
    mutating func pause() {
        new = []
        rest = []
        needsRound = true
    }

    /// Whether these policies are not those that were published last for a request; they count as published
    /// then.
    mutating func isNews(_ policies: [String], of request: RequestID) -> Bool {
        if policies.isEmpty || told[request] == policies { return false }
        told[request] = policies
        return true
    }

    /// The request is not pending any more, or is another one now.
    mutating func forget(_ request: RequestID) { told[request] = nil }
}
