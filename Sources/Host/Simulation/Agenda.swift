import HeapModule
public import Scheduling
public import TaskModel

/// What is to happen in a virtual host's world, and when on CLOCK_BOOTTIME.
struct Agenda {
    /// Small, because heaps move their entries about; what happens lies beside them.
    private struct Entry: Comparable {
        var time: Duration
        /// What was entered first comes first.
        let number: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    /// What the world does; a year of a device is known from its start.
    private var world = Heap<Entry>()
    /// What launches do, apart from it: a sleep delays these few, and needn't touch the rest of the year.
    private var processes = Heap<Entry>()
    private var occurrences: [Int: Occurrence] = [:]
    private var count = 0

    /// When the next occurrence is due.
    var next: Duration? { (isProcessNext ? processes.min : world.min)?.time }

    mutating func add(_ occurrence: Occurrence, at time: Duration) {
        count += 1
        occurrences[count] = occurrence
        let entry = Entry(time: time, number: count)
        if case .process = occurrence { processes.insert(entry) } else { world.insert(entry) }
    }

    mutating func removeFirst() -> Occurrence? {
        let entry = isProcessNext ? processes.popMin() : world.popMin()
        return entry.flatMap { occurrences.removeValue(forKey: $0.number) }
    }

    /// The machine sleeps for so long: what its processes would do comes later by that.
    mutating func delayProcesses(by gap: Duration) {
        processes = Heap(
            processes.unordered.map { entry in
                var entry = entry
                entry.time += gap
                return entry
            })
    }

    private var isProcessNext: Bool {
        guard let process = processes.min else { return false }
        guard let other = world.min else { return true }
        return process < other
    }
}

/// Something that happens in the world of a virtual host.
public enum Occurrence: Equatable, Sendable {
    /// The scheduler is told this: conditions, uses, settings, manifests.
    case event(SchedulerEvent)
    /// A client or a handler submits this; the manifests and limits decide.
    case submit(TaskSubmission)
    /// A user cancels what is pending.
    case withdraw(TaskIdentifier)
    /// A user launches what is pending, whatever the policies say.
    case simulate(TaskIdentifier)
    /// A user stops what runs.
    case stop(TaskIdentifier, Reason)
    /// The machine sleeps until that instant on CLOCK_BOOTTIME, or until a schedule wakes it.
    case sleep(until: Duration)
    /// The clocks read this, whatever they read before.
    case clocks(Moment)
    /// Something that a launch does.
    case process(LaunchID, ProcessStep)
    /// The machine falls asleep now, its word given.
    case fallAsleep(until: Duration)
}

/// What one launch does by itself.
public enum ProcessStep: Equatable, Sendable {
    /// Its handler is called.
    case ready
    /// It reports progress.
    case progress
    /// It submits the request of that place in its plan.
    case submit(Int)
    /// Its CPU time reaches its limit; counts only for the limit that was put into force with this number.
    case cpuLimit(Int)
    /// It ends: its work is done, or it answers its expiration; counts only with its newest number.
    case end(Int)
}
