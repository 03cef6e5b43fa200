import HeapModule
import TaskModel

/// The pending requests of tasks with a `queue:`.
///
/// The scheduler has only the first request of each queue, and the next one when that has started. So an
/// event costs the scheduler the same for a queue of ten thousand requests as for one request, and a queue
/// gets as many turns as one task. A request with needs of its own, such as external power, must not hold
/// back those behind it; therefore the requests with the same needs of their own form a line, and each line
/// has its first request. Requests that wait for a date, or for the success of others, are in no line until
/// then.
struct QueueBook: Sendable {
    /// A change of what the scheduler has.
    enum Move: Equatable, Sendable {
        /// The request is the first of its line now.
        case give(RequestID)
        /// Another request comes before this one now.
        case takeBack(RequestID)
    }

    /// What a submission requires besides its manifest.
    private struct Line: Hashable {
        let power: Bool
        let network: Bool
        let which: NetworkRequirement?
        let gpu: Bool

        init(_ submission: TaskSubmission) {
            power = submission.requiresExternalPower
            network = submission.requiresNetworkConnectivity
            which = submission.network
            gpu = submission.requiresGPU
        }
    }

    /// The place of a request in its line; smaller ones start first.
    private struct Place: Comparable {
        let rank: Int
        let id: RequestID

        init(_ request: TaskRequest, _ order: QueueOrder) {
            let priority = request.submission.priority ?? QueuePriority.standard
            rank = order == .priority ? -priority : 0
            id = request.id
        }

        static func < (left: Self, right: Self) -> Bool { (left.rank, left.id) < (right.rank, right.id) }
    }

    private struct Date: Comparable {
        let time: WallTime
        let id: RequestID

        static func < (left: Self, right: Self) -> Bool { (left.time, left.id) < (right.time, right.id) }
    }

    private struct Queue {
        var order = QueueOrder.fifo
        /// All pending requests of the queue, also those that the scheduler has.
        var members: Set<RequestID> = []
        /// The requests that the scheduler does not have.
        var waiting: Set<RequestID> = []
        /// The requests of ``waiting`` that wait for the success of others, and are in no line.
        var held: Set<RequestID> = []
        /// The requests of ``waiting`` whose dates have come; entries of others are skipped.
        var lines: [Line: Heap<Place>] = [:]
        /// The requests of ``waiting`` whose dates have not come; entries of others are skipped.
        var later = Heap<Date>()
        /// The requests of ``waiting`` whose dates are not known yet; entries of others are skipped.
        var new: [RequestID] = []
        /// The first request of each line, which the scheduler has and has not started.
        var first: [Line: RequestID] = [:]
    }

    private var queues: [TaskIdentifier: Queue] = [:]
    /// The queues whose first requests may have changed.
    private(set) var touched: Set<TaskIdentifier> = []

    /// The tasks with pending requests in queues, ordered by name.
    var identifiers: [TaskIdentifier] { queues.keys.sorted() }

    /// The number of pending requests of a queue.
    func count(of identifier: TaskIdentifier) -> Int { queues[identifier]?.members.count ?? 0 }

    /// The pending requests of a queue, in no order.
    func members(of identifier: TaskIdentifier) -> Set<RequestID> { queues[identifier]?.members ?? [] }

    /// Whether a request waits behind others of its queue or for its date, so that the scheduler does not
    /// have it.
    func isWaiting(_ request: TaskRequest) -> Bool {
        queues[request.identifier]?.waiting.contains(request.id) ?? false
    }

    /// The first requests of a queue's lines, oldest first.
    func first(of identifier: TaskIdentifier) -> [RequestID] {
        queues[identifier].map { $0.first.values.sorted() } ?? []
    }

    /// How many requests come before each of a queue's, without those that were started.
    ///
    /// - Parameters:
    ///   - identifier: The task.
    ///   - order: The order of the queue.
    ///   - pending: All pending requests.
    /// - Returns: The number for each request that waits.
    func places(
        of identifier: TaskIdentifier, _ order: QueueOrder, in pending: [RequestID: TaskRequest]
    ) -> [RequestID: Int] {
        guard let queue = queues[identifier] else { return [:] }
        let all = queue.waiting.subtracting(queue.held).union(queue.first.values).compactMap { pending[$0] }
            .map { Place($0, order) }.sorted()
        return Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.id, $0) })
    }

    /// Adds a request that became pending, or that was put back: it gets its old place.
    mutating func add(_ request: TaskRequest) {
        let identifier = request.identifier
        queues[identifier, default: Queue()].members.insert(request.id)
        queues[identifier]?.waiting.insert(request.id)
        if request.openPredecessors.isEmpty {
            queues[identifier]?.new.append(request.id)
        } else {
            queues[identifier]?.held.insert(request.id)
        }
        touched.insert(identifier)
    }

    /// Lets a request have its place that waited for the success of others.
    mutating func release(_ request: TaskRequest) {
        guard queues[request.identifier]?.held.remove(request.id) != nil else { return }
        queues[request.identifier]?.new.append(request.id)
        touched.insert(request.identifier)
    }

    /// Removes a request that is not pending any more.
    mutating func remove(_ request: TaskRequest) {
        let identifier = request.identifier
        leave(request)
        queues[identifier]?.members.remove(request.id)
        if queues[identifier]?.members.isEmpty == true { queues[identifier] = nil }
    }

    /// Notes that the scheduler has started a request, so that the next one of its line is given.
    mutating func leave(_ request: TaskRequest) {
        let (identifier, line) = (request.identifier, Line(request.submission))
        guard queues[identifier] != nil else { return }
        queues[identifier]?.waiting.remove(request.id)
        queues[identifier]?.held.remove(request.id)
        if queues[identifier]?.first[line] == request.id { queues[identifier]?.first[line] = nil }
        touched.insert(identifier)
    }

    /// Examines all queues again, because manifests or the wall clock have changed.
    mutating func touchAll() { touched.formUnion(queues.keys) }

    /// Determines the dates of all waiting requests again, because the wall clock was set.
    mutating func redate() {
        for identifier in queues.keys {
            guard let queue = queues[identifier] else { continue }
            queues[identifier]?.new = Array(queue.waiting.subtracting(queue.held))
            queues[identifier]?.lines = [:]
            queues[identifier]?.later = Heap()
        }
        touchAll()
    }

    /// The next date of a request that waits for one; `nil` if none does.
    mutating func nextDate() -> WallTime? {
        var next: WallTime?
        for identifier in queues.keys {
            while let date = queues[identifier]?.later.min {
                if queues[identifier]?.waiting.contains(date.id) == true {
                    next = next.map { min($0, date.time) } ?? date.time
                    break
                }
                queues[identifier]?.later.removeMin()
            }
        }
        return next
    }

    /// Touches the queues with requests whose date has come.
    mutating func release(until now: WallTime) {
        for (identifier, queue) in queues {
            if let date = queue.later.min, date.time <= now { touched.insert(identifier) }
        }
    }

    /// Determines the first requests of the touched queues.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - pending: All pending requests.
    ///   - orders: The order of each task's queue; without one, the oldest request comes first.
    ///   - date: The date before which a request can't start; `nil` if it has none.
    /// - Returns: What to give to the scheduler, and to take back before.
    mutating func settle(
        at now: WallTime, _ pending: [RequestID: TaskRequest], _ orders: [TaskIdentifier: QueueOrder],
        date: (TaskRequest) -> WallTime?
    ) -> [Move] {
        var moves: [Move] = []
        for identifier in touched.sorted() {
            guard var queue = queues.removeValue(forKey: identifier) else { continue }
            Self.settle(&queue, at: now, pending, orders[identifier] ?? .fifo, date, &moves)
            queues[identifier] = queue
        }
        touched = []
        return moves
    }

    private static func settle(
        _ queue: inout Queue, at now: WallTime, _ pending: [RequestID: TaskRequest],
        _ order: QueueOrder, _ dateOf: (TaskRequest) -> WallTime?, _ moves: inout [Move]
    ) {
        if order != queue.order {
            queue.order = order
            // The lines are put into the new order; only requests whose dates have come are in one.
            let ids = queue.lines.values.flatMap { $0.unordered.map(\.id) }
            queue.lines = [:]
            for id in ids where queue.waiting.contains(id) { enter(pending[id], &queue) }
        }
        for id in queue.new where queue.waiting.contains(id) {
            guard let request = pending[id] else { continue }
            if let date = dateOf(request), date > now {
                queue.later.insert(Date(time: date, id: id))
            } else {
                enter(request, &queue)
            }
        }
        queue.new = []
        while let date = queue.later.min, date.time <= now {
            queue.later.removeMin()
            if queue.waiting.contains(date.id) { enter(pending[date.id], &queue) }
        }
        for line in Array(queue.lines.keys) {
            while let next = queue.lines[line]?.min, !queue.waiting.contains(next.id) {
                queue.lines[line]?.removeMin()
            }
            guard let next = queue.lines[line]?.min else {
                queue.lines[line] = nil
                continue
            }
            if let first = queue.first[line], let request = pending[first] {
                guard next < Place(request, queue.order) else { continue }
                moves.append(.takeBack(first))
                queue.waiting.insert(first)
                enter(request, &queue)
            }
            queue.lines[line]?.removeMin()
            queue.waiting.remove(next.id)
            queue.first[line] = next.id
            moves.append(.give(next.id))
        }
    }

    private static func enter(_ request: TaskRequest?, _ queue: inout Queue) {
        guard let request else { return }
        queue.lines[Line(request.submission), default: Heap()].insert(Place(request, queue.order))
    }
}
