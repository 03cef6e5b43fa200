// The import is public because tests of the host's core copy the value out of the store.
@_exported public import MemoryStore
public import RequestStore
import Synchronization
public import TaskModel

/// A store that loses its contents with the process: a ``MemoryStore`` behind a lock.
///
/// It passes the same conformance suites as the durable store, so tests of the host may use it.
public final class MemoryRequestStore: RequestStore {
    private struct State {
        var store: MemoryStore
    }

    private let state: Mutex<State>

    /// Creates a store with the contents of an earlier store.
    public init(_ store: MemoryStore = MemoryStore()) { state = Mutex(State(store: store)) }

    /// The present contents of the store.
    public var contents: MemoryStore { state.withLock { $0.store } }

    public func commit(
        _ writes: [StoreWrite], answer: @escaping @Sendable ([Result<StoreAnswer, StoreRefusal>]) -> Void
    ) {
        answer(state.withLock { $0.store.commit(writes) })
    }

    public func note(_ note: StoreNote, of launch: LaunchID, at moment: Moment) {
        state.withLock { $0.store.note(note, of: launch) }
    }

    public func recover(_ terms: RecoveryTerms) async -> Recovery {
        state.withLock { $0.store.recover(terms) }
    }

    @discardableResult
    public func prune(keepingNewest count: Int, olderThan time: WallTime) async -> Int {
        state.withLock { $0.store.prune(keepingNewest: count, olderThan: time) }
    }

    public func facts() async -> StoredFacts { contents.facts }

    public func pendingRequests() async -> [TaskRequest] { contents.pendingRequests }

    public func request(_ id: RequestID) async -> RequestRecord? { contents.request(id) }

    public func request(_ identifier: TaskIdentifier, key: String) async -> RequestRecord? {
        contents.request(identifier, key: key)
    }

    public func checkpoint(of request: RequestID) async -> [UInt8]? { contents.checkpoint(of: request) }

    public func lastSuccess(of identifier: TaskIdentifier) async -> WallTime? {
        contents.lastSuccess(of: identifier)
    }

    public func launch(_ id: LaunchID) async -> LaunchRecord? { contents.launch(id) }

    public func launches(_ filter: LaunchFilter, limit: Int, before: LaunchID?) async -> [LaunchRecord] {
        contents.launches(filter, limit: limit, before: before)
    }

    public func launchSummaries(
        _ filter: LaunchFilter, limit: Int, before: LaunchID?
    ) async -> [LaunchSummary] {
        contents.launches(filter, limit: limit, before: before)
            .map(LaunchSummary.init)
    }

    public func launches(of request: RequestID) async -> [LaunchRecord] { contents.launches(of: request) }
}
