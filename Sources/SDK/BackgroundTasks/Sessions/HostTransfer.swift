#if BackgroundTransfers
    import Foundation
    import FoundationNetworking

    /// Takes the tasks of a background session over from Foundation when they are resumed.
    final class HostTransfer: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canInit(with task: URLSessionTask) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        /// The session of a task.
        static func session(of task: URLSessionTask) -> URLSession? {
            Inside.value("session", of: task) as? URLSession
        }

        override func startLoading() {
            guard let task else { return }
            guard let session = Self.session(of: task)?.background else {
                return fail(
                    NSURLErrorUnsupportedURL,
                    "the background session was made in a file that imports FoundationNetworking, from a "
                        + "variable of the type URLSessionConfiguration. Remove 'import FoundationNetworking' from "
                        + "the file, and import BackgroundTasks, UIKit or SwiftUI")
            }
            session.start(self, task)
        }

        override func stopLoading() {
            // Foundation calls this for `suspend`, too; the host goes on then.
            guard let task, task.state == .canceling else { return }
            Self.session(of: task)?.background?.cancel(task)
        }

        /// Ends the task with an error.
        func fail(_ code: Int, _ message: String, _ more: [String: Any] = [:]) {
            App.shared.host.log(.error, subsystem: nil, category: nil, message)
            var info = more
            info[NSLocalizedDescriptionKey] = message
            if let url = task?.originalRequest?.url { info[NSURLErrorFailingURLErrorKey] = url }
            client?.urlProtocol(
                self, didFailWithError: NSError(domain: NSURLErrorDomain, code: code, userInfo: info))
        }
    }
#endif
