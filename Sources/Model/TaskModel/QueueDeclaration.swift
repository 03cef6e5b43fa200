/// The order in which the requests of a queue start.
public enum QueueOrder: String, Sendable, Codable, CaseIterable {
    /// The oldest request first.
    case fifo
    /// The request with the highest priority first; of several, the oldest.
    case priority
}

/// The rule in `queue: {concurrency, limit, order, unique}`: each submission of the task is a request of its
/// own, instead of replacing the pending one.
public struct QueueDeclaration: Equatable, Hashable, Sendable, Codable {
    /// The largest number of launches of the task at the same time: 1 through ``mostConcurrent``.
    public var concurrency = 1
    /// The largest number of requests that wait in the queue: 1 through ``mostWaiting``.
    public var limit = Self.standardLimit
    /// The order in which the requests start.
    public var order = QueueOrder.fifo
    /// How long after the end of a request another one with the same key is a repeat of it, up to 30 days;
    /// `nil` means that the key can be used again as soon as the request has ended.
    public var unique: Duration?

    /// The largest ``concurrency``, 64.
    ///
    /// Our choice; the slots of the host limit it further.
    public static let mostConcurrent = 64
    /// The ``limit`` of a queue that states none: 10,000, our choice.
    public static let standardLimit = 10_000
    /// The largest ``limit``: 1,000,000, the number of pending requests that the host is measured with.
    public static let mostWaiting = 1_000_000
    /// The largest ``unique``: 30 days, our choice; the store forgets requests after a time, too.
    public static let longestUnique = Duration.seconds(30 * 86_400)

    /// Makes a queue with the defaults: one launch at a time, oldest first, at most 10,000 requests.
    public init() {}
}

/// The priority of a request in its queue.
public enum QueuePriority {
    /// The priorities that a submission can have: 0 through 9; higher ones start first.
    public static let range = 0...9
    /// The priority of a submission that states none: 5, the middle, so that others can come before and
    /// after.
    public static let standard = 5
}

/// What a store must know about the queue of a request.
public struct QueueTerms: Equatable, Sendable {
    /// See ``QueueDeclaration/unique``.
    public var unique: Duration?

    /// Makes terms; without `unique`, a key is free again when its request has ended.
    public init(unique: Duration? = nil) { self.unique = unique }

    /// Whether a submission with the key of an earlier request is a repeat of it.
    ///
    /// - Parameters:
    ///   - earlier: The request that had the key.
    ///   - time: The time of the submission.
    /// - Returns: True if that request has not ended, or ended at most ``unique`` ago.
    public func isRepeat(of earlier: RequestRecord, at time: WallTime) -> Bool {
        guard earlier.state == .done, let end = earlier.endedAt else { return true }
        return unique.map { time < end + $0 } ?? false
    }
}

/// A queue of a task, as a listing shows it.
public struct QueueState: Equatable, Sendable {
    /// The name of the verdict about a request behind others of its queue.
    public static let policy = "Queue"

    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle whose manifest permits the task.
    public var bundle: BundleIdentifier
    /// The queue's rule in the manifest; the default if the manifest has none any more.
    public var declaration: QueueDeclaration
    /// How many requests wait.
    public var waiting: Int
    /// How many launches are under way.
    public var running: Int
    /// The request that starts next; `nil` if none waits, or if all wait for their dates.
    public var next: RequestID?
    /// What ``next`` waits for, in one sentence.
    public var headline: String

    /// Makes the state of a queue.
    public init(
        identifier: TaskIdentifier, bundle: BundleIdentifier, declaration: QueueDeclaration, waiting: Int,
        running: Int, next: RequestID?, headline: String
    ) {
        self.identifier = identifier
        self.bundle = bundle
        self.declaration = declaration
        self.waiting = waiting
        self.running = running
        self.next = next
        self.headline = headline
    }
}
