import HeapModule
import TaskModel

/// Which launches the scheduler looks at after an event: those that the event touched, and those whose next
/// instant has come.
///
/// A look at any other launch would find what the look before it found. So an event costs as much with a
/// thousand launches under way as with one.
struct LaunchAgenda: Sendable {
    /// What one pass looks at.
    struct Pass {
        /// The launches to look at, by their requests; `nil` means all.
        let requests: Set<RequestID>?
        /// The launches of which the policies are asked again; `nil` means all.
        let checked: Set<RequestID>?

        /// Whether the policies are asked again about a launch.
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
    /// When to look at a launch without any event, on CLOCK_BOOTTIME.
    private var instants: [RequestID: Duration] = [:]
    /// The instants in their order; an entry that differs from ``instants`` is out of date and is skipped.
    private var queue = Heap<Entry>()

    /// An event changed a launch.
    mutating func touch(_ request: RequestID) { touched.insert(request) }

    /// An event may have changed every launch, but not what the policies say of them.
    mutating func touchAll() { touchesAll = true }

    /// The policies have not been asked about a launch since it started.
    mutating func check(_ request: RequestID) {
        touched.insert(request)
        checked.insert(request)
    }

    /// Something changed that the policies judge running launches by.
    mutating func checkAll() {
        touchesAll = true
        checksAll = true
    }

    /// What the pass of this instant, on CLOCK_BOOTTIME, looks at; the next pass begins with nothing touched.
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

    /// When to look at a launch without any event, on CLOCK_BOOTTIME; `nil` means never.
    mutating func setInstant(_ instant: Duration?, of request: RequestID) {
        guard instants[request] != instant else { return }
        instants[request] = instant
        if let instant { queue.insert(Entry(instant: instant, request: request)) }
        // Most entries are out of date: a launch that reports progress moves its instant each time.
        if queue.count > 64, queue.count > 4 * instants.count {
            queue = Heap(instants.map { Entry(instant: $1, request: $0) })
        }
    }

    /// A launch has ended.
    mutating func remove(_ request: RequestID) {
        touched.remove(request)
        checked.remove(request)
        instants[request] = nil
    }

    /// The first instant of any launch, on CLOCK_BOOTTIME; `nil` if none has one.
    mutating func nextInstant() -> Duration? {
        while let first = queue.min, instants[first.request] != first.instant { queue.removeMin() }
        return queue.min?.instant
    }
}
