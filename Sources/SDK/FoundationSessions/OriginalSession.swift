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

    // The same is true of these properties.
    extension URLSessionTask {
        /// Foundation's own `countOfBytesReceived`.
        package var originalCountOfBytesReceived: Int64 { countOfBytesReceived }
        /// Foundation's own `countOfBytesExpectedToReceive`.
        package var originalCountOfBytesExpectedToReceive: Int64 { countOfBytesExpectedToReceive }
        /// Foundation's own `countOfBytesSent`.
        package var originalCountOfBytesSent: Int64 { countOfBytesSent }
        /// Foundation's own `countOfBytesExpectedToSend`.
        package var originalCountOfBytesExpectedToSend: Int64 { countOfBytesExpectedToSend }
    }
#endif
