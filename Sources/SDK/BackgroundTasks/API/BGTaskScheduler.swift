public import Foundation

/// The queue type of Dispatch, under the name that Apple's declarations use.
public typealias dispatch_queue_t = DispatchQueue

/// Registers launch handlers and submits requests.
///
/// You can use it from any thread. ``submit(_:)``, ``cancel(taskRequestWithIdentifier:)`` and
/// ``cancelAllTaskRequests()`` block the thread until the host has answered. ``submitTaskRequest(_:)`` and
/// the methods that list pending requests do not block it.
public class BGTaskScheduler: NSObject, @unchecked Sendable {
    // Unchecked: the only stored property is the app, which guards its own state.
    private let app: App

    init(_ app: App) {
        self.app = app
        super.init()
    }

    /// Unavailable: use ``shared``.
    @available(*, unavailable, message: "Use BGTaskScheduler.shared")
    public override init() {
        misuse("BGTaskScheduler", "use BGTaskScheduler.shared instead of creating a scheduler")
    }

    /// The only scheduler of the process.
    public class var shared: BGTaskScheduler { App.shared.scheduler }

    /// The resources that continued tasks can request on this machine now.
    ///
    /// The set contains the GPU while the host offers one (see `bgtask conditions`). The manifest must permit
    /// it, too.
    public class var supportedResources: BGContinuedProcessingTaskRequest.Resources {
        App.shared.host.conditions.hasGPU ? .gpu : []
    }

    /// The domain of ``Error`` as an `NSError`.
    public class var errorDomain: String { "BGTaskSchedulerErrorDomain" }

    /// Registers the handler to call when a task is launched.
    ///
    /// Every identifier that the manifest permits needs a handler, registered before the app has finished
    /// launching. Only handlers of continued tasks may be registered later. The process ends if it registers
    /// any other handler later, or a handler for an identifier twice.
    ///
    /// - Parameters:
    ///   - identifier: An identifier that the manifest permits; for continued tasks, a full identifier or the
    ///     wildcard in the manifest.
    ///   - queue: The queue on which the launch handler and the expiration handler are called; `nil` selects
    ///     a serial background queue.
    ///   - launchHandler: Called with the task, once per launch.
    /// - Returns: `false` if the manifest does not permit the identifier; then nothing is registered.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: dispatch_queue_t?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        app.register(identifier, using: queue, launchHandler: launchHandler)
    }

    /// Submits a request and waits until the host has stored it durably.
    ///
    /// The scheduler copies the request. It replaces a pending request of the same identifier.
    ///
    /// - Parameter taskRequest: The request.
    /// - Throws: ``Error``, with the reason and what to do.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        try app.submit(taskRequest.facts)
    }

    /// Submits a request like ``submit(_:)``, but without blocking the caller.
    ///
    /// - Parameters:
    ///   - taskRequest: The request, which is copied before this method returns.
    ///   - completionHandler: Called on an arbitrary queue with the error, or `nil` on success.
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

    /// Submits a request like ``submit(_:)``, but without blocking the caller's thread.
    ///
    /// - Parameter taskRequest: The request.
    /// - Throws: ``Error``, with the reason and what to do.
    public func submitTaskRequest(_ taskRequest: BGTaskRequest) async throws {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Swift.Error>) in
            submitTaskRequest(taskRequest) { error in
                if let error { waiting.resume(throwing: error) } else { waiting.resume() }
            }
        }
    }

    /// Cancels the pending request of an identifier; a running launch continues.
    ///
    /// - Parameter identifier: The task's identifier; if it has no pending request, the call does nothing.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        app.host.cancel(identifier)
    }

    /// Cancels all pending requests of the app.
    public func cancelAllTaskRequests() {
        app.host.cancel(nil)
    }

    /// Lists the app's pending requests, as copies.
    ///
    /// - Parameter completionHandler: Called on an arbitrary queue; the list is empty if no host can be
    ///   reached.
    public func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
        let handler = Unchecked(completionHandler)
        App.callQueue.async { [app] in
            handler.value(app.host.pending().map(BGTaskRequest.request(for:)))
        }
    }

    /// Lists the app's pending requests, as copies.
    ///
    /// - Returns: The requests; empty if no host can be reached.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        await withCheckedContinuation { waiting in
            getPendingTaskRequests { waiting.resume(returning: $0) }
        }
    }
}
