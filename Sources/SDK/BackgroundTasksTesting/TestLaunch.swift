public import BackgroundTasks
public import Foundation
import Synchronization

/// One launch of a handler under test.
public final class TestLaunch: Sendable {
    /// How a launch ended.
    public enum Ending: Equatable, Sendable {
        /// The handler completed the task with this value.
        case completed(success: Bool)
        /// The launch was asked to stop, and had no expiration handler.
        case expiredUnheard
        /// The launch was asked to stop, and ended without completing; a host would put its request back.
        case unfinished
    }

    let facts: LaunchFacts
    let channel: TestChannel
    private let host: TestHost

    init(_ facts: LaunchFacts, host: TestHost) {
        self.facts = facts
        self.host = host
        channel = TestChannel()
    }

    /// The task's identifier.
    public var identifier: String { facts.identifier }

    /// Asks the launch to stop; its expiration handler is called on the launch handler's queue.
    ///
    /// - Parameters:
    ///   - reason: Why the launch must stop.
    ///   - grace: The grace period in seconds.
    public func expire(_ reason: BGTaskExpirationReason = .simulated, grace: TimeInterval = 5) {
        channel.expire(Expiration(reason: reason.rawValue, deadline: host.now + grace, grace: grace))
    }

    /// Waits until the handler has set an expiration handler, or the launch has ended.
    ///
    /// Handlers run concurrently with the test. A launch that is asked to stop before it has set its
    /// expiration handler ends with ``Ending/expiredUnheard``, as it would under a host.
    public func listening() async {
        await withCheckedContinuation { waiting in channel.whenListening { waiting.resume() } }
    }

    /// Waits until the launch has ended; use a time limit of the test to bound the wait.
    ///
    /// - Returns: How the launch ended.
    public func ended() async -> Ending {
        await withCheckedContinuation { waiting in channel.whenEnded { waiting.resume(returning: $0) } }
    }

    /// Whether the launch has ended.
    public var hasEnded: Bool { channel.ending != nil }

    /// The newest progress, as completed and total units; `nil` if none was reported.
    public var progress: (completed: Int64, total: Int64)? { channel.progress }

    /// Every progress that was reported, in order.
    public var progressReports: [(completed: Int64, total: Int64)] { channel.reports }

    /// The checkpoint that the launch saved last; `nil` if there is none.
    public var checkpoint: Data? { channel.checkpoint }

    /// The newest title and subtitle that the handler set; `nil` if it set none.
    public var titles: (title: String, subtitle: String)? { channel.titles }
}

/// The connection of a launch to the simulated host.
final class TestChannel: TaskChannel {
    private struct State {
        var reports: [(completed: Int64, total: Int64)] = []
        var checkpoint: Data?
        var titles: (title: String, subtitle: String)?
        var slot = ExpirationSlot()
        var ending: TestLaunch.Ending?
        var listeners: [@Sendable () -> Void] = []
        var waiting: [@Sendable (TestLaunch.Ending) -> Void] = []
    }

    private let state = Mutex(State())

    var reports: [(completed: Int64, total: Int64)] { state.withLock { $0.reports } }
    var progress: (completed: Int64, total: Int64)? { state.withLock { $0.reports.last } }
    var checkpoint: Data? { state.withLock { $0.checkpoint } }
    var titles: (title: String, subtitle: String)? { state.withLock { $0.titles } }
    var ending: TestLaunch.Ending? { state.withLock { $0.ending } }
    var expiration: Expiration? { state.withLock { $0.slot.expiration } }

    func report(completed: Int64, total: Int64) { state.withLock { $0.reports.append((completed, total)) } }
    func setTitle(_ title: String, subtitle: String) { state.withLock { $0.titles = (title, subtitle) } }

    func save(checkpoint: Data?) -> Bool {
        state.withLock { $0.checkpoint = checkpoint }
        return true
    }

    func complete(success: Bool, message: String?) { end(.completed(success: success)) }

    func endUnfinished() { end(.unfinished) }

    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?) {
        let (late, listeners) = state.withLock { state -> (Expiration?, [@Sendable () -> Void]) in
            let late = state.slot.set(handler)
            guard state.slot.isSettled else { return (late, []) }
            defer { state.listeners = [] }
            return (late, state.listeners)
        }
        for listener in listeners { listener() }
        if let late { handler?(late) }
    }

    func expire(_ expiration: Expiration) {
        switch state.withLock({ $0.slot.expire(expiration) }) {
        case .call(let handler): handler(expiration)
        case .end: end(.expiredUnheard)
        case .nothing: break
        }
    }

    func whenListening(_ listener: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            if !state.slot.isSettled { state.listeners.append(listener) }
            return state.slot.isSettled
        }
        if isNow { listener() }
    }

    func whenEnded(_ handler: @escaping @Sendable (TestLaunch.Ending) -> Void) {
        let ending = state.withLock { state in
            if state.ending == nil { state.waiting.append(handler) }
            return state.ending
        }
        if let ending { handler(ending) }
    }

    private func end(_ ending: TestLaunch.Ending) {
        let (waiting, listeners) = state.withLock {
            state -> ([@Sendable (TestLaunch.Ending) -> Void], [@Sendable () -> Void]) in
            guard state.slot.finish() else { return ([], []) }
            state.ending = ending
            defer { (state.waiting, state.listeners) = ([], []) }
            return (state.waiting, state.listeners)
        }
        for listener in listeners { listener() }
        for handler in waiting { handler(ending) }
    }
}
