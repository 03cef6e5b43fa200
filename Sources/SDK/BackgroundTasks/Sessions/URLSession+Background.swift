#if BackgroundTransfers
    public import Foundation
    public import FoundationNetworking
    import FoundationSessions

    /// The key of an error's `userInfo` whose value continues a failed download.
    public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

    extension URLSession {
        /// Makes a background session.
        ///
        /// If the process has made a session with this identifier before, both use the same transfers, but
        /// only the newest one gets news of them.
        public convenience init(
            configuration: BackgroundURLSessionConfiguration,
            delegate: (any FoundationNetworking.URLSessionDelegate)?, delegateQueue queue: OperationQueue?
        ) {
            let session = BackgroundSession(configuration, delegate)
            configuration.session = session
            self.init(original: configuration, delegate: session, delegateQueue: queue)
            session.begin(self)
        }

        /// Makes a session; a background session, if the configuration is of one.
        public convenience init(
            configuration: URLSessionConfiguration,
            delegate: (any FoundationNetworking.URLSessionDelegate)?, delegateQueue queue: OperationQueue?
        ) {
            if let background = configuration as? BackgroundURLSessionConfiguration {
                self.init(configuration: background, delegate: delegate, delegateQueue: queue)
            } else {
                self.init(original: configuration, delegate: delegate, delegateQueue: queue)
            }
        }

        /// Makes a background session without a delegate.
        public convenience init(configuration: BackgroundURLSessionConfiguration) {
            self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
        }

        /// Makes a task that continues a download.
        ///
        /// - Parameter resumeData: The data from `cancel(byProducingResumeData:)` or from a failed task.
        /// - Returns: The task, which is not resumed yet.
        @_disfavoredOverload
        public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
            let resume = ResumeData(resumeData)
            // Without valid data, the host refuses the task with a sentence.
            let url = resume.flatMap { URL(string: $0.url) } ?? URL(fileURLWithPath: "/")
            var request = URLRequest(url: url)
            request.httpMethod = resume?.method
            for (name, value) in resume?.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
            let task = downloadTask(with: request)
            TaskExtras.change(task) { $0.resumes = resume?.transfer ?? "" }
            return task
        }

        /// The part of a background session that talks to the host; `nil` for any other session.
        var background: BackgroundSession? {
            (configuration as? BackgroundURLSessionConfiguration)?.session
        }
    }

    extension URLSessionTask {
        /// In a background session, the task does not begin before this date.
        @_disfavoredOverload
        public var earliestBeginDate: Date? {
            get { TaskExtras.of(self).earliestBeginDate }
            set { TaskExtras.change(self) { $0.earliestBeginDate = newValue } }
        }

        /// In a background session, how many bytes the app expects to send.
        @_disfavoredOverload
        public var countOfBytesClientExpectsToSend: Int64 {
            get { TaskExtras.of(self).expectedToSend ?? NSURLSessionTransferSizeUnknown }
            set { TaskExtras.change(self) { $0.expectedToSend = newValue } }
        }

        /// In a background session, how many bytes the app expects to receive.
        @_disfavoredOverload
        public var countOfBytesClientExpectsToReceive: Int64 {
            get { TaskExtras.of(self).expectedToReceive ?? NSURLSessionTransferSizeUnknown }
            set { TaskExtras.change(self) { $0.expectedToReceive = newValue } }
        }
    }

    // Foundation has these properties, and only it can set them. In a background session, the host counts,
    // also while no process runs.
    extension URLSessionTask {
        private var bytes: TaskExtras.Bytes? { TaskExtras.of(self).bytes }

        /// The bytes of the body that were received; of an upload, those of the server's answer.
        @_disfavoredOverload
        public var countOfBytesReceived: Int64 { bytes?.received ?? originalCountOfBytesReceived }

        /// The length of the body that is received; `NSURLSessionTransferSizeUnknown` if the server does not
        /// say it, and 0 before its response.
        @_disfavoredOverload
        public var countOfBytesExpectedToReceive: Int64 {
            bytes?.expectedToReceive ?? originalCountOfBytesExpectedToReceive
        }

        /// The bytes of the body that were sent.
        @_disfavoredOverload
        public var countOfBytesSent: Int64 { bytes?.sent ?? originalCountOfBytesSent }

        /// The length of the body that is sent.
        @_disfavoredOverload
        public var countOfBytesExpectedToSend: Int64 {
            bytes?.expectedToSend ?? originalCountOfBytesExpectedToSend
        }
    }

    extension URLSessionDownloadTask {
        /// Cancels the download, and passes data that continue it to a closure; `nil` if it can't be
        /// continued.
        ///
        /// Outside a background session, the data are always `nil`.
        @_disfavoredOverload
        public func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
            guard let session = HostTransfer.session(of: self)?.background else {
                cancel()
                return completionHandler(nil)
            }
            let handler = Unchecked(completionHandler)
            session.cancelKeeping(self) { handler.value($0) }
        }

        /// Cancels the download, and returns data that continue it; `nil` if it can't be continued.
        public func cancelByProducingResumeData() async -> Data? {
            await withCheckedContinuation { answer in
                cancel { (data: Data?) in answer.resume(returning: data) }
            }
        }

        private func cancel(_ handler: @escaping @Sendable (Data?) -> Void) {
            guard let session = HostTransfer.session(of: self)?.background else {
                cancel()
                return handler(nil)
            }
            session.cancelKeeping(self, handler)
        }
    }

    /// The data that continue a download, as JSON.
    struct ResumeData: Codable {
        /// The number of the transfer whose bytes the host keeps.
        var transfer: String
        var url: String
        var method: String?
        var headers: [String: String]?

        init(transfer: String, _ request: URLRequest?) {
            self.transfer = transfer
            url = request?.url?.absoluteString ?? ""
            method = request?.httpMethod
            headers = request?.allHTTPHeaderFields
        }

        init?(_ data: Data) {
            guard let decoded = try? JSONDecoder().decode(ResumeData.self, from: data) else { return nil }
            self = decoded
        }

        var data: Data? { try? JSONEncoder().encode(self) }
    }
#endif
