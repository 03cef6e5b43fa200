#if BackgroundTransfers
    import Foundation
    import FoundationNetworking

    /// A background session: Foundation's session calls it as its delegate, the host sends it the news of its
    /// transfers, and it calls the app's delegate.
    ///
    /// Foundation calls the methods of a delegate on the session's queue; this class does that, too. A lock
    /// guards the records. It is held while a transfer is begun, so that news of a transfer never come before
    /// its record.
    final class BackgroundSession: NSObject, FoundationNetworking.URLSessionDataDelegate, @unchecked Sendable
    {
        // Unchecked: `lock` guards the variables. The app's delegate is called only on the session's queue.

        /// One task of the session.
        final class Record {
            let task: URLSessionTask
            let transfer: String
            /// Foundation's side of the task; `nil` until a task from an earlier process is resumed.
            var loader: HostTransfer?
            /// The news that came before.
            var waiting: [SessionMessages.Transfer] = []
            /// The bytes of which the delegate knows.
            var told: Int64 = 0
            /// The bytes that were here when a resumed download began, until its delegate knows of them.
            var resumesAt: Int64?
            /// Whether the host said how the transfer ended, or that it has cancelled it for the app.
            var hasEnded = false
            /// Whether the delegate has handled the end of the task.
            var isComplete = false
            /// Whether the host was told to cancel the transfer.
            var isCancelled = false

            init(_ task: URLSessionTask, _ transfer: String) { (self.task, self.transfer) = (task, transfer) }
        }

        let identifier: String
        let configuration: BackgroundURLSessionConfiguration
        let delegate: (any FoundationNetworking.URLSessionDelegate)?
        private let lock = NSLock()
        /// A serial queue, on which tasks are begun in the order in which they were resumed.
        private let starting = DispatchQueue(label: "BackgroundTasks.sessions", qos: .utility)
        private(set) var session: URLSession?
        private var records: [String: Record] = [:]
        private var byTask: [ObjectIdentifier: Record] = [:]
        /// The transfers whose ends the delegate has handled; news of them may still be under way.
        private var settled: Set<String> = []

        init(
            _ configuration: BackgroundURLSessionConfiguration,
            _ delegate: (any FoundationNetworking.URLSessionDelegate)?
        ) {
            identifier = configuration.identifier ?? ""
            self.configuration = configuration
            self.delegate = delegate
        }

        /// Begins with Foundation's session: finds the tasks of earlier processes.
        func begin(_ session: URLSession) {
            self.session = session
            SessionCenter.shared.add(self)
        }

        /// Whether no task waits for its end or for its delegate.
        var isDone: Bool { lock.withLock { records.values.allSatisfy { $0.hasEnded && $0.isComplete } } }

        // MARK: Beginning

        /// Takes a task over that the app has resumed.
        ///
        /// Foundation calls this on the queue of the task, on which the properties of the task can't be read.
        func start(_ loader: HostTransfer, _ task: URLSessionTask) {
            let loader = Unchecked(loader)
            SessionCenter.shared.beginHandover()
            starting.async { [self] in
                begin(loader.value, task)
                SessionCenter.shared.endHandover()
            }
        }

        private func begin(_ loader: HostTransfer, _ task: URLSessionTask) {
            let known: [SessionMessages.Transfer]? = lock.withLock {
                guard let record = byTask[ObjectIdentifier(task)] else { return nil }
                record.loader = loader
                defer { record.waiting = [] }
                return record.waiting
            }
            if let known {
                for news in known { enqueue(news) }
                return
            }
            if let problem = problem(with: task) { return loader.fail(NSURLErrorUnsupportedURL, problem) }
            lock.lock()
            defer { lock.unlock() }
            do throws(Refusal) {
                var question = SessionMessages.Question(ask: "begin", session: identifier)
                let (request, upload) = try HandoverFiles.request(for: task, in: self)
                question.request = request
                do throws(Refusal) {
                    let answer = try SessionCenter.shared.ask(question)
                    let record = Record(task, answer.transfer ?? "")
                    record.loader = loader
                    record.resumesAt = request.resumes == nil ? nil : answer.completed
                    records[record.transfer] = record
                    byTask[ObjectIdentifier(task)] = record
                } catch {
                    if let upload { try? FileManager.default.removeItem(at: upload) }
                    throw error
                }
            } catch {
                loader.fail(error.code == .unavailable ? NSURLErrorUnknown : NSURLErrorBadURL, error.text)
            }
        }

        /// Why the host can't make a task's transfer, as a sentence; `nil` if it can.
        private func problem(with task: URLSessionTask) -> String? {
            if let session, Inside.hasHandler(task, in: session) {
                return
                    "Completion handler blocks are not supported in background sessions, and neither are the "
                    + "async methods. Use a delegate instead: its "
                    + "urlSession(_:downloadTask:didFinishDownloadingTo:) gets the file."
            }
            if task is URLSessionUploadTask {
                guard Inside.file(of: task) != nil else {
                    return
                        "Upload tasks in background sessions must be from a file. Write the data to a file, "
                        + "and call uploadTask(with:fromFile:)."
                }
                return nil
            }
            if task is URLSessionDataTask {
                return
                    "Data tasks are not made in background sessions, because their data would be lost with "
                    + "the process. Use downloadTask(with:), or a session of another configuration."
            }
            if task.originalRequest?.httpBody != nil {
                return "A download task in a background session sends no body. Send the body with "
                    + "uploadTask(with:fromFile:)."
            }
            return nil
        }

        /// Makes the task of a transfer that an earlier process began.
        private func restore(_ news: SessionMessages.Transfer) -> Record? {
            guard let session, let request = news.request else { return nil }
            let task: URLSessionTask =
                news.isUpload
                ? session.uploadTask(with: request, from: Data()) : session.downloadTask(with: request)
            task.taskDescription = news.note
            if let priority = news.priority { task.priority = Float(priority) }
            let date = news.earliestBeginDate.flatMap(ControlMessages.date(of:))
            if let date { TaskExtras.change(task) { $0.earliestBeginDate = date } }
            let record = Record(task, news.transfer)
            record.told = news.hasEnded ? 0 : news.completed
            note(news, record)
            records[news.transfer] = record
            byTask[ObjectIdentifier(task)] = record
            return record
        }

        /// Notes how many bytes of a task were sent and received.
        private func note(_ news: SessionMessages.Transfer, _ record: Record) {
            TaskExtras.change(record.task) { $0.bytes = news.bytes }
        }

        // MARK: News

        /// Handles news of the host.
        func take(_ news: SessionMessages.Transfer) {
            let fresh: URLSessionTask? = lock.withLock {
                if let record = records[news.transfer] {
                    if record.loader == nil { record.waiting.append(news) }
                    return nil
                }
                guard !settled.contains(news.transfer) else { return nil }
                let record = restore(news)
                record?.waiting.append(news)
                return record?.task
            }
            if let fresh { return fresh.resume() }
            if lock.withLock({ records[news.transfer]?.loader != nil }) { enqueue(news) }
        }

        private func enqueue(_ news: SessionMessages.Transfer) {
            SessionCenter.shared.whenOpen { [self] in
                session?.delegateQueue.addOperation { [self] in deliver(news) }
            }
        }

        /// Tells the app's delegate; runs on the session's queue.
        private func deliver(_ news: SessionMessages.Transfer) {
            guard let session, let record = lock.withLock({ records[news.transfer] }), !record.hasEnded,
                let loader = record.loader
            else { return }
            note(news, record)
            if !record.isComplete { tellProgress(news, record, session) }
            if news.asks { askDelegate(record, session) }
            guard news.hasEnded else { return }
            let (isFirst, isComplete) = lock.withLock {
                defer { record.hasEnded = true }
                return (!record.hasEnded, record.isComplete)
            }
            guard isFirst else { return }
            // The app has cancelled the task.
            if isComplete { return confirm(record) }
            finish(news, record, loader, session)
        }

        private func tellProgress(
            _ news: SessionMessages.Transfer, _ record: Record, _ session: URLSession
        ) {
            let total = news.total ?? NSURLSessionTransferSizeUnknown
            if let offset = record.resumesAt {
                // Whether the server continues the file is known only from its answer.
                guard let status = news.status else { return }
                record.resumesAt = nil
                if status == 206, let task = record.task as? URLSessionDownloadTask {
                    record.told = min(offset, news.completed)
                    (delegate as? any FoundationNetworking.URLSessionDownloadDelegate)?.urlSession(
                        session, downloadTask: task, didResumeAtOffset: record.told,
                        expectedTotalBytes: total)
                }
            }
            guard news.completed > record.told else { return }
            let new = news.completed - record.told
            record.told = news.completed
            if let total = news.total, total > 0 { record.task.progress.totalUnitCount = total }
            record.task.progress.completedUnitCount = news.completed
            if let task = record.task as? URLSessionDownloadTask {
                (delegate as? any FoundationNetworking.URLSessionDownloadDelegate)?.urlSession(
                    session, downloadTask: task, didWriteData: new, totalBytesWritten: news.completed,
                    totalBytesExpectedToWrite: total)
            } else {
                (delegate as? any FoundationNetworking.URLSessionTaskDelegate)?.urlSession(
                    session, task: record.task, didSendBodyData: new, totalBytesSent: news.completed,
                    totalBytesExpectedToSend: total)
            }
        }

        private func finish(
            _ news: SessionMessages.Transfer, _ record: Record, _ loader: HostTransfer, _ session: URLSession
        ) {
            let task = record.task
            guard let response = news.response, news.outcome == "succeeded" || news.outcome == "refused"
            else {
                var more: [String: Any] = [:]
                if news.resumable {
                    let data = ResumeData(transfer: news.transfer, task.originalRequest).data
                    more[NSURLSessionDownloadTaskResumeData] = data
                }
                tellMetrics(news, task, session)
                return loader.fail(
                    news.errorCode, news.failure?.message ?? "the transfer was cancelled", more)
            }
            loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
            if let download = task as? URLSessionDownloadTask,
                let file = HandoverFiles.downloaded(news.file, transfer: news.transfer)
            {
                (delegate as? any FoundationNetworking.URLSessionDownloadDelegate)?.urlSession(
                    session, downloadTask: download, didFinishDownloadingTo: file)
                try? FileManager.default.removeItem(at: file)
            }
            // Foundation passes it to the delegate of an upload task.
            if task is URLSessionUploadTask, let body = HandoverFiles.answer(to: news), !body.isEmpty {
                loader.client?.urlProtocol(loader, didLoad: body)
            }
            tellMetrics(news, task, session)
            loader.client?.urlProtocolDidFinishLoading(loader)
        }

        private func tellMetrics(
            _ news: SessionMessages.Transfer, _ task: URLSessionTask, _ session: URLSession
        ) {
            guard let facts = news.metrics, let request = task.originalRequest,
                let begin = ControlMessages.date(of: news.submittedAt),
                let delegate = delegate as? any URLSessionTaskDelegate
            else { return }
            let end = news.endedAt.flatMap(ControlMessages.date(of:)) ?? App.shared.host.now
            let transaction = URLSessionTaskTransactionMetrics(
                request, news.response, facts, sent: news.isUpload ? news.completed : 0,
                received: news.isUpload ? 0 : news.completed)
            delegate.urlSession(
                session, task: task,
                didFinishCollecting: URLSessionTaskMetrics(
                    transaction, DateInterval(start: begin, end: max(begin, end)), redirects: facts.redirects)
            )
        }

        private func askDelegate(_ record: Record, _ session: URLSession) {
            let transfer = record.transfer
            guard let delegate = delegate as? any URLSessionTaskDelegate,
                let request = record.task.originalRequest
            else { return SessionCenter.shared.decide(transfer, "proceed", nil) }
            delegate.urlSession(session, task: record.task, willBeginDelayedRequest: request) {
                disposition, new in
                switch disposition {
                case .continueLoading: SessionCenter.shared.decide(transfer, "proceed", nil)
                case .cancel: SessionCenter.shared.decide(transfer, "cancel", nil)
                case .useNewRequest: SessionCenter.shared.decide(transfer, "replace", new)
                }
            }
        }

        /// Confirms to the host that the delegate has handled the end of a transfer.
        private func confirm(_ record: Record) {
            let (transfer, task) = (record.transfer, ObjectIdentifier(record.task))
            SessionCenter.shared.confirm(transfer) { [self] in
                lock.withLock {
                    records[transfer] = nil
                    byTask[task] = nil
                    settled.insert(transfer)
                }
                TaskExtras.sweep()
                SessionCenter.shared.finishEvents(of: self)
            }
        }

        // MARK: Cancelling

        /// Cancels the transfer of a task that the app has cancelled.
        func cancel(_ task: URLSessionTask) {
            guard let record = lock.withLock({ byTask[ObjectIdentifier(task)] }), !record.isCancelled else {
                return
            }
            record.isCancelled = true
            let transfer = record.transfer
            SessionCenter.shared.cancel(transfer, keeps: false) { [self] in note($0, transfer) }
        }

        /// Cancels a download, and keeps its bytes.
        func cancelKeeping(_ task: URLSessionDownloadTask, _ handler: @escaping @Sendable (Data?) -> Void) {
            guard let record = lock.withLock({ byTask[ObjectIdentifier(task)] }), !record.isCancelled else {
                task.cancel()
                return handler(nil)
            }
            record.isCancelled = true
            let transfer = record.transfer
            SessionCenter.shared.cancel(transfer, keeps: true) { [self] answer in
                let isResumable = answer?.resumable ?? false
                note(answer, transfer)
                task.cancel()
                handler(isResumable ? ResumeData(transfer: transfer, task.originalRequest).data : nil)
            }
        }

        /// Learns the host's answer about a task that the app has cancelled.
        ///
        /// The news of its end may come too late for this process, and the next one would learn of it again.
        private func note(_ answer: SessionMessages.Answer?, _ transfer: String) {
            // Without a transfer in the answer, it was too late to cancel, and the end is still to come.
            guard answer?.transfer != nil else { return }
            let complete: Record? = lock.withLock {
                guard let record = records[transfer], !record.hasEnded else { return nil }
                record.hasEnded = true
                return record.isComplete ? record : nil
            }
            if let complete { confirm(complete) }
        }

        // MARK: Foundation's calls

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            delegate?.urlSession(session, didBecomeInvalidWithError: error)
            SessionCenter.shared.remove(self)
            self.session = nil
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            (delegate as? any FoundationNetworking.URLSessionTaskDelegate)?.urlSession(
                session, task: task, didCompleteWithError: error)
            let ended: Record? = lock.withLock {
                guard let record = byTask[ObjectIdentifier(task)] else { return nil }
                record.isComplete = true
                return record.hasEnded ? record : nil
            }
            if let ended { confirm(ended) }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            guard let delegate = delegate as? any FoundationNetworking.URLSessionDataDelegate else {
                return completionHandler(.allow)
            }
            delegate.urlSession(
                session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            (delegate as? any FoundationNetworking.URLSessionDataDelegate)?.urlSession(
                session, dataTask: dataTask, didReceive: data)
        }
    }
#endif
