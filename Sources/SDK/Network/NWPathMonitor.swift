import BackgroundTasks
public import Dispatch
import Synchronization

/// Reports the machine's network and its changes, from the conditions of the host.
///
/// In a process that no host launched, the status is ``NWPath/Status/requiresConnection``, except in a client
/// of a host: such a client gets changes while a handler of its own is registered.
public final class NWPathMonitor: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var follower: Int?
        var told: NWPath?
        /// The loops over the monitor, which end with it.
        var loops: [AsyncStream<NWPath>.Continuation] = []
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let excluded: Set<NWInterface.InterfaceType>

    /// Makes a monitor of all interfaces.
    public init() { excluded = [] }

    /// Makes a monitor of one type of interface.
    public init(requiredInterfaceType: NWInterface.InterfaceType) {
        excluded = Set(NWInterface.InterfaceType.allCases).subtracting([requiredInterfaceType])
    }

    /// Makes a monitor of all but some types of interface.
    public init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        excluded = Set(prohibitedInterfaceTypes)
    }

    /// The network now.
    public var currentPath: NWPath {
        let conditions = App.shared.host.conditions
        return NWPath(conditions.network, conditions.interfaces, without: excluded)
    }

    /// Called on the queue with the path once after ``start(queue:)``, and then after every change.
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// The queue of the handler; `nil` before the start.
    public var queue: DispatchQueue? { state.withLock { $0.queue } }

    /// Begins to call the handler; a second call, and a call after ``cancel()``, has no effect.
    ///
    /// The monitor lives until ``cancel()``, as on Apple's systems.
    public func start(queue: DispatchQueue) {
        let isFirst = state.withLock { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            return true
        }
        guard isFirst else { return }
        let number = ConditionNews.shared.add { [self] _, _ in queue.async { self.tell() } }
        let isLate = state.withLock { state in
            state.follower = number
            return state.isCancelled
        }
        if isLate { ConditionNews.shared.remove(number) }
        queue.async { self.tell() }
    }

    /// Ends the calls of the handler, and loops over the monitor, for good.
    public func cancel() {
        let (follower, loops) = state.withLock { state in
            defer { state.loops = [] }
            state.isCancelled = true
            state.handler = nil
            return (state.follower, state.loops)
        }
        if let follower { ConditionNews.shared.remove(follower) }
        // Outside the lock, because the end of a loop cancels the monitor again.
        for loop in loops { loop.finish() }
    }

    /// Calls the handler, if it does not know the path yet.
    private func tell() {
        let path = currentPath
        let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
            guard !state.isCancelled, state.told != path else { return nil }
            state.told = path
            return state.handler
        }
        handler?(path)
    }
}

extension NWPathMonitor: AsyncSequence {
    /// A path.
    public typealias Element = NWPath

    /// The path now, and after every change.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var paths: AsyncStream<NWPath>.Iterator

        /// The next path; `nil` after the monitor was cancelled.
        public mutating func next() async -> NWPath? { await paths.next() }
    }

    /// Starts the monitor on a queue of its own; the monitor is cancelled when the loop ends.
    public func makeAsyncIterator() -> AsyncIterator {
        let (paths, continuation) = AsyncStream.makeStream(of: NWPath.self)
        pathUpdateHandler = { continuation.yield($0) }
        continuation.onTermination = { _ in self.cancel() }
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.loops.append(continuation) }
            return state.isCancelled
        }
        if isCancelled { continuation.finish() }
        start(queue: DispatchQueue(label: "BackgroundTasks.network"))
        return AsyncIterator(paths: paths.makeAsyncIterator())
    }
}
