public import TaskModel

/// A queue of a task: an element of the answer of `GET /v1/queues`.
public struct QueueMessage: Codable, Equatable, Sendable {
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// The largest number of launches of the task at the same time.
    public var concurrency: Int
    /// The largest number of requests that wait.
    public var limit: Int
    /// The order in which the requests start.
    public var order: QueueOrder
    /// How many requests wait.
    public var waiting: Int
    /// How many launches are under way.
    public var running: Int
    /// The request that starts next; `null` if all wait for their dates.
    @Explicit public var next: RequestID?
    /// What the queue waits for, in one sentence.
    public var headline: String

    /// Copies the state of a queue.
    public init(_ state: QueueState) {
        identifier = state.identifier
        bundle = state.bundle
        concurrency = state.declaration.concurrency
        limit = state.declaration.limit
        order = state.declaration.order
        waiting = state.waiting
        running = state.running
        headline = state.headline
        next = state.next
    }
}
