#if BackgroundTransfers
    package import Foundation
    package import FoundationNetworking

    // BackgroundTasks declares an initialiser with the same signature as Foundation's, and so can't call it.
    extension URLSession {
        /// Makes a session with Foundation's own initialiser.
        package convenience init(
            original configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
            delegateQueue: OperationQueue?
        ) {
            self.init(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        }
    }
#endif
