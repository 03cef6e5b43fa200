import HeapModule
import TaskModel

/// Selects the launches that the scheduler examines after an event.
///
/// These are the launches that the event affects, and those with an instant that has come: a time at which
/// the launch must be examined even without an event.
///
/// Nothing has changed for the other launches. So the cost of an event does not grow with the number of
/// launches under way.
struct LaunchAgenda: Sendable {
    /// The launches that the scheduler examines in one pass.
    struct Pass {
        /// The requests of the launches to examine; `nil` means all.
        let requests: Set<RequestID>?
        /// The requests of the launches that the policies judge again; `nil` means all.
        let checked: Set<RequestID>?

        /// Whether the policies judge the launch of a request again.
        func checks(_ request: RequestID) -> Bool { checked?.contains(request) ?? true }
    }

    private struct Entry: Comparable {
        /// On CLOCK_BOOTTIME.
        let instant: Duration
        let request: RequestID

        static func < (left: Self, right: Self) -> Bool {
            left.instant == right.instant ? left.request < right.request : left.instant < right.instant
        }
    }

    private var touchesAll = false
    private var checksAll = false
    private var touched: Set<RequestID> = []
    private var checked: Set<RequestID> = []
    /// When to examine each launch even without an event, on CLOCK_BOOTTIME.
    private var instants: [RequestID: Duration] = [:]
    /// The instants in order of time; an entry is out of date, and ignored, if ``instants`` has another
    /// value.
    private var queue = Heap<Entry>()

    /// Adds a launch that an event affected to the next pass.
    mutating func touch(_ request: RequestID) { touched.insert(request) }

    /// Adds all launches to the next pass, because an event may have affected them.
    ///
    /// The policies' answers cannot have changed.
    mutating func touchAll() { touchesAll = true }

    /// Adds a launch to the next pass, in which the policies judge it again.
    mutating func check(_ request: RequestID) {
        touched.insert(request)
        checked.insert(request)
    }

    /// Adds all launches to the next pass, in which the policies judge them again.
    mutating func checkAll() {
        touchesAll = true
        checksAll = true
    }

    /// Returns what the pass at this time, on CLOCK_BOOTTIME, must examine, and empties the agenda for the
    /// next pass.
    mutating func takePass(at boot: Duration) -> Pass {
        while let first = queue.min, first.instant <= boot {
            queue.removeMin()
            if instants[first.request] == first.instant {
                instants[first.request] = nil
                touched.insert(first.request)
            }
        }
        let pass = Pass(requests: touchesAll ? nil : touched, checked: checksAll ? nil : checked)
        (touchesAll, checksAll, touched, checked) = (false, false, [], [])
        return pass
    }

    /// Sets when to examine a launch even without an event, on CLOCK_BOOTTIME; `nil` means never.
    mutating func setInstant(_ instant: Duration?, of request: RequestID) {
        guard instants[request] != instant else { return }
        instants[request] = instant
        if let instant { queue.insert(Entry(instant: instant, request: request)) }
        // A new instant, as after each progress report, leaves the launch's old entry in the queue. When more
        // than three in four entries are old ones, makes the queue again without them.
        if queue.count > 64, queue.count > 4 * instants.count {
            queue = Heap(instants.map { Entry(instant: $1, request: $0) })
        }
    }

    /// Sets when to examine a launch even without an event, unless it is to be examined earlier.
    mutating func advanceInstant(to instant: Duration, of request: RequestID) {
        setInstant(instants[request].map { min($0, instant) } ?? instant, of: request)
    }

    /// Removes a launch that has ended.
    mutating func remove(_ request: RequestID) {
        touched.remove(request)
        checked.remove(request)
        instants[request] = nil
    }

    /// The earliest instant of all launches, on CLOCK_BOOTTIME; `nil` if there is none.
    mutating func nextInstant() -> Duration? {
        while let first = queue.min, instants[first.request] != first.instant { queue.removeMin() }
        return queue.min?.instant
    }
}
