import UIKit

// Downloads and uploads that go on when the app is not running, in the manner of Apple's documentation of
// background sessions.
final class Editions: NSObject {
    static let shared = Editions()

    var eventsHandler: (() -> Void)?
    /// The description of the task that is paused as soon as it has bytes.
    var pauses: String?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    lazy var urlSession: URLSession = {
        let config = URLSessionConfiguration.background(withIdentifier: "org.example.corpus.editions")
        config.isDiscretionary = false
        config.sessionSendsLaunchEvents = true
        return URLSession(configuration: config, delegate: self, delegateQueue: nil)
    }()

    var documents: URL {
        FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0]
    }

    /// Makes the session, so that its delegate hears of its tasks.
    func connect() {
        urlSession.getAllTasks { tasks in
            print("tasks: \(tasks.map { $0.taskDescription ?? "" })")
            for task in tasks { self.printBytes(of: task) }
        }
    }

    func download(_ url: URL, patience: TimeInterval = 60) {
        let request = URLRequest(url: url, timeoutInterval: patience)
        let backgroundTask = urlSession.downloadTask(with: request)
        backgroundTask.taskDescription = "edition"
        backgroundTask.countOfBytesClientExpectsToSend = 200
        backgroundTask.countOfBytesClientExpectsToReceive = 500 * 1024
        backgroundTask.resume()
    }

    func sendReport(to url: URL, bytes: Int = 300_000, patience: TimeInterval = 60) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("report")
        try? Data(repeating: 7, count: min(bytes, 300_000)).write(to: file)
        if bytes > 300_000, let handle = FileHandle(forWritingAtPath: file.path) {
            // The rest are zeros.
            try? handle.truncate(atOffset: UInt64(bytes))
        }
        var request = URLRequest(url: url, timeoutInterval: patience)
        request.httpMethod = "POST"
        request.setValue("report", forHTTPHeaderField: "X-Kind")
        let backgroundTask = urlSession.uploadTask(with: request, fromFile: file)
        backgroundTask.taskDescription = "report"
        backgroundTask.resume()
    }

    func printBytes(of task: URLSessionTask) {
        print(
            "bytes of \(task.taskDescription ?? ""): received \(task.countOfBytesReceived) of "
                + "\(task.countOfBytesExpectedToReceive), sent \(task.countOfBytesSent) of "
                + "\(task.countOfBytesExpectedToSend)")
    }

    /// Begins a task, and waits for its end.
    func finished(_ begin: () -> Void) async {
        await withCheckedContinuation { waiter in
            urlSession.delegateQueue.addOperation { self.waiters.append(waiter) }
            begin()
        }
    }
}

extension Editions: URLSessionDelegate {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        print("all events of \(session.configuration.identifier ?? "")")
        DispatchQueue.main.async {
            self.eventsHandler?()
            self.eventsHandler = nil
        }
    }
}

extension Editions: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let httpResponse = downloadTask.response as? HTTPURLResponse,
            (200...299).contains(httpResponse.statusCode)
        else {
            print("server error")
            return
        }
        do {
            try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
            let name = downloadTask.originalRequest!.url!.lastPathComponent
            let savedURL = documents.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: savedURL)
            try FileManager.default.moveItem(at: location, to: savedURL)
            print("saved \(savedURL.lastPathComponent), response of \(httpResponse.expectedContentLength)")
        } catch {
            print("file error: \(error)")
        }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        print("written \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
        pauseIfWanted(downloadTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        print("resumed at \(fileOffset) of \(expectedTotalBytes)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        print("delayed request of \(task.taskDescription ?? "")")
        var newRequest = request
        newRequest.setValue("yes", forHTTPHeaderField: "X-Late")
        completionHandler(.useNewRequest, newRequest)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        for transaction in metrics.transactionMetrics {
            guard let begin = transaction.fetchStartDate, let first = transaction.responseStartDate,
                let end = transaction.responseEndDate
            else { continue }
            print(
                "metrics: \(transaction.networkProtocolName ?? "none") from \(transaction.remoteAddress ?? "none"), "
                    + "received \(transaction.countOfResponseBodyBytesReceived), "
                    + "redirects \(metrics.redirectCount), "
                    + "in order \(begin <= first && first <= end && metrics.taskInterval.duration >= 0)")
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        printBytes(of: task)
        if let error {
            let resumes = (error as NSError).userInfo[NSURLSessionDownloadTaskResumeData] != nil
            let name = task.taskDescription ?? ""
            print("\(name) failed, can resume: \(resumes): \(error.localizedDescription)")
        } else {
            let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
            print("\(task.taskDescription ?? "") completed, status \(status)")
        }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

extension Editions: URLSessionDataDelegate {
    // The answer to an upload.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let length = (dataTask.response as? HTTPURLResponse)?.expectedContentLength ?? 0
        print(
            "answer to \(dataTask.taskDescription ?? ""): \(String(decoding: data.prefix(6), as: UTF8.self)), "
                + "\(data.count) of \(length)")
    }
}
