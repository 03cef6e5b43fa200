import Foundation
import Synchronization

/// One launch inside the app: the implementation of all members of `BGTask`.
///
/// Completion and expiration may happen at the same time on different threads; the first one has an effect.
package final class RunningTask: Sendable {
    package let facts: LaunchFacts
    private let channel: any TaskChannel
    /// The queue for the expiration handler; `nil` selects a queue that the app's code cannot block.
    private let expirationQueue: DispatchQueue?

    private struct State {
        var isCompleted = false
        var handler: Unchecked<() -> Void>?
        var checkpoint: Data?
        var titles: Titles
        var watch: ProgressObserver?
        var completions: [@Sendable (Bool) -> Void] = []
        var success: Bool?
    }

    /// The texts that the user sees.
    package struct Titles: Sendable {
        package var title: String
        package var subtitle: String
    }

    private let state: Mutex<State>

    package init(_ facts: LaunchFacts, _ channel: any TaskChannel, expiresOn queue: DispatchQueue?) {
        self.facts = facts
        self.channel = channel
        expirationQueue = queue
        state = Mutex(
            State(
                checkpoint: facts.checkpoint,
                titles: Titles(title: facts.title, subtitle: facts.subtitle)))
    }

    /// Starts to watch the progress.
    func begin() {
        state.withLock { $0.watch }?.start()
    }

    /// Reports to the channel that the launch handler has returned; work that it started may continue.
    func handlerReturned() {
        guard !state.withLock({ $0.isCompleted }) else { return }
        channel.handlerReturned()
    }

    // MARK: Expiring

    var expiration: Expiration? { channel.expiration }

    var deadline: Date? { channel.expiration?.deadline ?? facts.leaseEnd }

    var expirationHandler: (() -> Void)? {
        get { state.withLock { $0.handler }?.value }
        set {
            let handler = newValue.map { Unchecked($0) }
            let isLive = state.withLock { state in
                guard !state.isCompleted else { return false }
                state.handler = handler
                return true
            }
            // The host must know whether there is a handler: if there is none, it ends an expiring launch
            // immediately.
            guard isLive else { return }
            if handler == nil {
                channel.setExpirationHandler(nil)
            } else {
                channel.setExpirationHandler { [weak self] in self?.expire($0) }
            }
        }
    }

    private func expire(_ expiration: Expiration) {
        // Assertions expire with the launch, because everything is killed at the same deadline. They expire
        // slightly earlier, so that leaks can be reported.
        if App.shared.host.isLaunch {
            AssertionBook.shared.expire(within: expiration.grace - min(0.25, expiration.grace / 8))
        }
        guard let handler = takeHandler() else { return }
        if expiration.reason == BGTaskExpirationReason.cancelledByUser.rawValue {
            state.withLock { $0.watch }?.progress.cancel()
        }
        let queue = expirationQueue ?? Self.expirations
        let call = Once { handler.value() }
        queue.async { call.run() }
        guard expirationQueue != nil else { return }
        // If the launch handler blocks its own queue, the grace period would pass unused.
        let patience = max(0.05, expiration.grace / 4)
        Self.expirations.asyncAfter(deadline: .now() + patience) {
            guard let call = call.take() else { return }
            // The advice comes first, because the handler will probably end the process.
            App.shared.host.advise(
                "expirationQueueBusy",
                "the queue that the handler of \(self.facts.identifier) was registered with was busy when the launch "
                    + "expired, so the expiration handler ran on a different one. Return soon, and do the work on another queue."
            )
            call()
        }
    }

    /// Returns the expiration handler and removes it, so that it is called only once.
    private func takeHandler() -> Unchecked<() -> Void>? {
        state.withLock { state in
            defer { state.handler = nil }
            return state.isCompleted ? nil : state.handler
        }
    }

    private static let expirations = DispatchQueue(
        label: "BackgroundTasks.expirations", qos: .userInitiated, attributes: .concurrent)

    // MARK: Completing

    func complete(success: Bool, message: String? = nil) {
        finish(success: success) { channel.complete(success: success, message: message) }
    }

    /// Ends an expiring launch, so that its request is put back.
    func endUnfinished() {
        guard expiration != nil else {
            App.shared.host.log(
                .error, subsystem: nil, category: nil,
                "\(facts.identifier) is not expiring, so it can't end unfinished: complete it with "
                    + "setTaskCompleted(success:).")
            return
        }
        finish(success: false) { channel.endUnfinished() }
    }

    /// Ends the launch inside the app and reports that to the host with `tell`; only the first call has an
    /// effect.
    private func finish(success: Bool, tell: () -> Void) {
        let first = state.withLock { state -> ProgressObserver?? in
            guard !state.isCompleted else { return nil }
            state.isCompleted = true
            state.handler = nil
            return .some(state.watch.take())
        }
        guard let watch = first else { return }
        watch?.stop()
        tell()
        // The completion closures run after `tell`, because they end the process, and what the host has not
        // received by then is lost.
        let completions = state.withLock { state in
            state.success = success
            defer { state.completions = [] }
            return state.completions
        }
        for completion in completions { completion(success) }
    }

    /// Calls `handler` when the task has completed, with whether it succeeded; immediately if it already has.
    package func whenCompleted(_ handler: @escaping @Sendable (Bool) -> Void) {
        let success = state.withLock { state in
            if state.success == nil { state.completions.append(handler) }
            return state.success
        }
        if let success { handler(success) }
    }

    // MARK: Reports during the launch

    var checkpoint: Data? {
        get { state.withLock { $0.checkpoint } }
        set {
            guard (newValue?.count ?? 0) <= App.largestBlob, channel.save(checkpoint: newValue) else {
                App.shared.host.log(
                    .error, subsystem: nil, category: nil,
                    "a checkpoint of \(newValue?.count ?? 0) bytes was refused, and the previous one is kept: at most "
                        + "\(App.largestBlob) bytes are allowed. Write a file into the data directory and save its name."
                )
                return
            }
            state.withLock { $0.checkpoint = newValue }
        }
    }

    var titles: Titles { state.withLock { $0.titles } }

    func setTitles(_ title: String, _ subtitle: String) {
        state.withLock { $0.titles = Titles(title: title, subtitle: subtitle) }
        channel.setTitle(title, subtitle: subtitle)
    }

    /// Makes the progress object for the handler; called once per task.
    func makeProgress() -> Progress {
        let channel = channel
        let progress = ReportedProgress()
        let watch = ProgressObserver(progress) { channel.report(completed: $0, total: $1) }
        progress.changed = { [weak watch] in watch?.look() }
        state.withLock { $0.watch = watch }
        return progress
    }
}

/// A closure that runs once, for the first caller.
private final class Once: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    /// Runs the closure, unless it was already run or taken.
    func run() { take()?() }

    /// Returns the closure so that the caller can run it; `nil` if it was already run or taken.
    func take() -> (@Sendable () -> Void)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}
