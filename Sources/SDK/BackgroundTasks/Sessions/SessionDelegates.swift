#if BackgroundTransfers
    public import FoundationNetworking

    // Foundation's protocols lack methods that background sessions need, and an extension can't add a method
    // that is called dynamically. So these protocols have the same names and the missing methods. They win in
    // every file that imports this module, UIKit or SwiftUI, and not FoundationNetworking itself.

    /// The delegate of a session, with the method for background sessions.
    public protocol URLSessionDelegate: FoundationNetworking.URLSessionDelegate {
        /// Called when the delegate has received all events of a background session, for which the app was
        /// launched.
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
    }

    extension URLSessionDelegate {
        /// Does nothing.
        public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
    }

    /// The delegate of a session's tasks, with the methods for background sessions.
    public protocol URLSessionTaskDelegate: URLSessionDelegate, FoundationNetworking.URLSessionTaskDelegate {
        /// Called when a task with an `earliestBeginDate` can begin, if the process has the session.
        ///
        /// - Parameters:
        ///   - session: The session.
        ///   - task: The task.
        ///   - request: The request as it was.
        ///   - completionHandler: Decides within 30 s; the second argument is the request for
        ///     `useNewRequest`.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        )

        /// Called before the end of a task with what it cost, if the host has measured it.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

        /// Called when a task waits for a network; not called by background sessions.
        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    }

    extension URLSessionTaskDelegate {
        /// Lets the task begin with its request.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) { completionHandler(.continueLoading, nil) }

        /// Does nothing.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {}

        /// Does nothing.
        public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
    }

    /// The delegate of a session's data and upload tasks.
    public protocol URLSessionDataDelegate: URLSessionTaskDelegate, FoundationNetworking
            .URLSessionDataDelegate
    {}

    /// The delegate of a session's download tasks.
    public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate, FoundationNetworking
            .URLSessionDownloadDelegate
    {}
#endif
