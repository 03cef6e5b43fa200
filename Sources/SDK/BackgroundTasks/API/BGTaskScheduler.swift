public import Foundation

/// Dispatch's queues under the name that Apple's declarations use.
public typealias dispatch_queue_t = DispatchQueue

/// Takes launch handlers and requests.
///
/// Callable from any thread. ``submit(_:)``, ``cancel(taskRequestWithIdentifier:)`` and the list of pending
/// requests wait for the host's answer.
public class BGTaskScheduler: NSObject, @unchecked Sendable {
    // Unchecked: it has no state but the app's, which guards itself.
    private let app: App

    init(_ app: App) {
        self.app = app
        super.init()
    }

    /// There is one scheduler.
    @available(*, unavailable, message: "Use BGTaskScheduler.shared")
    public override init() { misuse("BGTaskScheduler", "a scheduler can't be made by hand") }

    /// The process's scheduler.
    public class var shared: BGTaskScheduler { App.shared.scheduler }

    /// What continued tasks may ask for on this machine now.
    ///
    /// The GPU, while the host offers one (`bgtask conditions`). The manifest must grant it as well.
    public class var supportedResources: BGContinuedProcessingTaskRequest.Resources {
        App.shared.host.conditions.hasGPU ? .gpu : []
    }

    /// The domain of ``Error``.
    public class var errorDomain: String { "BGTaskSchedulerErrorDomain" }

    /// Says what to call when a task is launched.
    ///
    /// Every permitted identifier needs a handler, registered before the app has finished launching; only
    /// those of continued tasks may come later. To register one twice, or late, ends the process.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier; for continued tasks the full one or the manifest's wildcard.
    ///   - queue: Where the handler is called, and the expiration handler; `nil` is a serial queue in the
    ///     background.
    ///   - launchHandler: Called with the task, once per launch.
    /// - Returns: `false` if the manifest does not permit the identifier; nothing is registered then.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: dispatch_queue_t?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        app.register(identifier, using: queue, launchHandler: launchHandler)
    }

    /// Asks for a launch; durable when it returns.
    ///
    /// The request is copied. One that is pending under the same identifier is replaced.
    ///
    /// - Parameter taskRequest: What is asked.
    /// - Throws: ``Error``, with what decided and what to do.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        try app.submit(taskRequest.facts)
    }

    /// As ``submit(_:)``, without holding up the caller.
    ///
    /// - Parameters:
    ///   - taskRequest: What is asked; copied before this returns.
    ///   - completionHandler: Called on an arbitrary queue with the error, or `nil`.
    public func submitTaskRequest(
        _ taskRequest: BGTaskRequest, completionHandler: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
        let facts = taskRequest.facts
        App.callQueue.async { [app] in
            do {
                try app.submit(facts)
                completionHandler(nil)
            } catch {
                completionHandler(error)
            }
        }
    }

    /// As ``submit(_:)``, without holding up the caller's thread.
    ///
    /// - Parameter taskRequest: What is asked.
    /// - Throws: ``Error``, with what decided and what to do.
    public func submitTaskRequest(_ taskRequest: BGTaskRequest) async throws {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Swift.Error>) in
            submitTaskRequest(taskRequest) { error in
                if let error { waiting.resume(throwing: error) } else { waiting.resume() }
            }
        }
    }

    /// Cancels the pending request of an identifier; a launch that runs goes on.
    ///
    /// - Parameter identifier: The task; nothing pending is no error.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        app.host.cancel(identifier)
    }

    /// Cancels all pending requests of the app.
    public func cancelAllTaskRequests() {
        app.host.cancel(nil)
    }

    /// Lists the app's pending requests, as copies.
    ///
    /// - Parameter completionHandler: Called on an arbitrary queue; with an empty list where no host can be
    ///   reached.
    public func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
        let handler = Unchecked(completionHandler)
        App.callQueue.async { [app] in
            handler.value(app.host.pending().map(BGTaskRequest.request(for:)))
        }
    }

    /// Lists the app's pending requests, as copies.
    ///
    /// - Returns: An empty list where no host can be reached.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        await withCheckedContinuation { waiting in
            getPendingTaskRequests { waiting.resume(returning: $0) }
        }
    }
}
