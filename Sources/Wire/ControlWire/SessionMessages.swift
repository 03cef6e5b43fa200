public import TaskModel

/// A question of a task about the background sessions of its bundle.
public struct SessionQuestion: Codable, Equatable, Sendable {
    /// What a task can ask.
    public enum Ask: String, Codable, Sendable, CaseIterable {
        /// Take over a session: the task's process now learns of its transfers.
        case attach
        /// Give up a session.
        case detach
        /// Begin a transfer.
        case begin
        /// Cancel a transfer.
        case cancel
        /// The first transfer of a session after the named one, or the first of all.
        case list
        /// Wait for the next news of the sessions that were taken over.
        case next
        /// The session's delegate has handled the end of a transfer.
        case told
        /// Whether a transfer whose date has come may begin.
        case decide
    }

    /// What a delegate decides about a transfer whose date has come.
    public enum Decision: String, Codable, Sendable {
        /// Begin with the request as it is.
        case proceed
        /// Begin with the address, the method and the header lines of this question.
        case replace
        /// Cancel it.
        case cancel
    }

    /// What the task asks.
    public var ask: Ask
    /// The identifier of the session; for ``Ask/attach``, ``Ask/detach`` and ``Ask/begin``.
    public var session: String?
    /// The number of the transfer; for ``Ask/cancel``, ``Ask/told`` and ``Ask/decide``.
    public var transfer: TransferID?
    /// Whether the bytes of a cancelled download are kept; for ``Ask/cancel``.
    public var keeps: Bool?
    /// For ``Ask/decide``.
    public var decision: Decision?
    /// The transfer to begin; for ``Ask/begin``, and for ``Ask/decide`` with another request.
    public var request: SessionRequest?

    public init(_ ask: Ask) { self.ask = ask }
}

/// A transfer that a task begins in a session.
public struct SessionRequest: Codable, Equatable, Sendable {
    /// The address, of http or https.
    public var url: String
    /// The method; `nil` means GET for a download and PUT for an upload.
    public var method: String?
    /// Further header lines, each as `Name: value`.
    public var headers: [String]?
    /// The number of the task within its session.
    public var taskIdentifier: Int?
    /// For an upload, the name of the file in the handover directory.
    public var upload: String?
    /// Whether the transfer waits for external power and an unmetered network.
    public var discretionary: Bool?
    /// Whether a metered network may be used; `nil` means true.
    public var allowsMetered: Bool?
    /// Whether the network may be used in low-data mode; `nil` means true.
    public var allowsConstrained: Bool?
    /// The transfer does not begin before this time.
    public var earliestBeginDate: Timestamp?
    /// Whether the delegate is asked at that time.
    public var asksBeforeBegin: Bool?
    /// The longest time without a byte, in seconds; `nil` means 60.
    public var stallSeconds: Double?
    /// The longest time to the end, in seconds; `nil` means 7 days.
    public var resourceSeconds: Double?
    /// How important the transfer is among those of its bundle, from 0 to 1.
    public var priority: Double?
    /// How many bytes the app expects to send.
    public var expectedToSend: Int64?
    /// How many bytes the app expects to receive.
    public var expectedToReceive: Int64?
    /// What the app wants to remember of the task, at most 4 KiB.
    public var note: String?
    /// Whether the end of the session's transfers launches the bundle; `nil` means true.
    public var sendsLaunchEvents: Bool?
    /// The transfer whose bytes the new one continues.
    public var resumes: TransferID?

    public init(url: String) { self.url = url }

    /// The request of a bundle's session.
    public func request(_ bundle: BundleIdentifier, _ session: String) -> TransferRequest {
        var request = TransferRequest(
            bundle: bundle, direction: upload == nil ? .download : .upload, url: url)
        request.session = session
        request.taskIdentifier = taskIdentifier
        request.method = method
        request.headers = headers ?? []
        request.handover = upload
        request.isDiscretionary = discretionary ?? false
        request.allowsMetered = allowsMetered ?? true
        request.allowsConstrained = allowsConstrained ?? true
        request.earliestBeginDate = earliestBeginDate?.time
        request.asksBeforeBegin = asksBeforeBegin
        request.priority = priority
        request.expectedToSend = expectedToSend
        request.expectedToReceive = expectedToReceive
        request.note = note
        request.sendsLaunchEvents = sendsLaunchEvents
        request.resumes = resumes
        func duration(_ seconds: Double) -> Duration {
            .milliseconds(seconds.isFinite ? Int64(min(max(seconds, 0), 3.2e9) * 1000) : 0)
        }
        if let stallSeconds { request.stallLimit = duration(stallSeconds) }
        if let resourceSeconds { request.resourceLimit = duration(resourceSeconds) }
        return request
    }
}

/// The host's answer to a ``SessionQuestion``.
public struct SessionAnswer: Codable, Equatable, Sendable {
    /// The number of the transfer that begins, or that was cancelled.
    public var transfer: TransferID?
    /// After ``SessionQuestion/Ask/cancel``: whether another transfer can continue this one.
    public var resumable: Bool?
    /// After ``SessionQuestion/Ask/begin`` of a transfer that continues another one: the bytes of the file
    /// that are here.
    public var completed: Int64?
    /// After ``SessionQuestion/Ask/next``, a transfer that has changed; after ``SessionQuestion/Ask/list``, a
    /// transfer, or nothing at the end of the list.
    public var news: SessionTransfer?

    public init() {}
}

/// One transfer, as its session sees it.
public struct SessionTransfer: Codable, Equatable, Sendable {
    /// The number of the transfer.
    public var transfer: TransferID
    /// The identifier of the session.
    public var session: String
    /// The address, as it was requested.
    public var url: String
    /// The method; `nil` if the task did not name one.
    public var method: String?
    /// The header lines that were requested.
    public var headers: [String]
    /// Whether it is an upload.
    public var isUpload: Bool
    /// The number of the task in the process that began it.
    public var taskIdentifier: Int?
    /// What the app wants to remember of the task.
    public var note: String?
    /// How important the transfer is, from 0 to 1.
    public var priority: Double?
    /// The transfer does not begin before this time.
    public var earliestBeginDate: Timestamp?
    /// The state.
    public var state: TransferState
    /// How the transfer ended; `nil` if it has not.
    public var outcome: TransferOutcome?
    /// The bytes of the file that are here, or that the server has received.
    public var completed: Int64
    /// The length of the file; `nil` if it is not known.
    public var total: Int64?
    /// How many attempts have begun.
    public var attempts: Int
    /// When the host accepted the transfer.
    public var submittedAt: Timestamp
    /// When it ended; `nil` if it has not.
    public var endedAt: Timestamp?
    /// The status of the newest response; `nil` if there is none.
    public var status: Int?
    /// The address after all redirects; `nil` without a response.
    public var finalURL: String?
    /// The header lines of the newest response; `nil` without one, or if they do not fit.
    public var responseHeaders: [String]?
    /// Why the transfer failed; `nil` if it did not.
    public var failure: TransferMessage.Failure?
    /// The name of a file in the handover directory; `nil` if there is none.
    ///
    /// A download that succeeded has its file there, and an upload its answer, if that is long.
    public var file: String?
    /// Whether another transfer can continue this one.
    public var resumable: Bool
    /// Whether the host waits for the delegate's decision about the beginning.
    public var asks: Bool
    /// What the newest request cost; `nil` if it is not known.
    public var metrics: SessionMetrics?
    /// The body of the answer to an upload, as base64 text; `nil` if there is none, or if it is in ``file``.
    public var body: String?

    /// The greatest length of the response's header lines in an answer, in bytes; with them, an answer fits
    /// into a frame even if each needs escapes.
    static let longestHeaders = 12_000
    /// The greatest length of an answer's header lines and body together, in bytes.
    private static let longestAnswer = 34_000

    /// Describes a transfer; `nil` if it belongs to no session.
    public init?(_ transfer: Transfer, asks: Bool) {
        let request = transfer.request
        guard let session = request.session else { return nil }
        self.session = session
        self.transfer = transfer.id
        url = request.url
        method = request.method
        headers = request.headers
        isUpload = request.direction == .upload
        taskIdentifier = request.taskIdentifier
        note = request.note
        priority = request.priority
        earliestBeginDate = request.earliestBeginDate.map(Timestamp.init)
        state = transfer.state
        outcome = transfer.outcome
        completed = transfer.completed
        total = transfer.total
        attempts = transfer.attempts
        submittedAt = Timestamp(transfer.submittedAt)
        endedAt = transfer.endedAt.map(Timestamp.init)
        status = transfer.response?.status
        finalURL = transfer.response?.url
        let lines = transfer.response?.headers
        let length = lines?.reduce(0) { $0 + $1.utf8.count } ?? 0
        responseHeaders = length <= Self.longestHeaders ? lines : nil
        failure = transfer.failure.map {
            TransferMessage.Failure(domain: $0.domain, code: $0.code, message: $0.message)
        }
        file =
            request.direction == .download && transfer.outcome == .succeeded
            ? request.handover : transfer.answerFile
        resumable = transfer.keepsPart == true
        self.asks = asks
        metrics = transfer.metrics.map(SessionMetrics.init)
        let answer = transfer.answer?.utf8.count ?? 0
        body = min(length, Self.longestHeaders) + answer <= Self.longestAnswer ? transfer.answer : nil
    }
}

/// What a request of a transfer cost; times are seconds from its beginning.
public struct SessionMetrics: Codable, Equatable, Sendable {
    /// When the request began.
    public var begin: Timestamp
    /// Until the server's address was known.
    public var nameLookup: Double
    /// Until the connection was there.
    public var connect: Double
    /// Until TLS was agreed on; 0 without TLS.
    public var secureConnect: Double
    /// Until the request could be sent.
    public var request: Double
    /// Until the first byte of the response.
    public var firstByte: Double
    /// Until the end.
    public var total: Double
    /// How many redirects came before.
    public var redirects: Int
    /// The version of HTTP, times 10; 0 if there was no response.
    public var version: Int
    /// Whether the connection was that of an earlier request.
    public var isReused: Bool
    /// The bytes of the response's header lines.
    public var responseHeaderBytes: Int64
    /// The bytes of the request's header lines.
    public var requestHeaderBytes: Int64
    /// The server's address and port; empty and 0 if there was no connection.
    public var remoteAddress: String
    public var remotePort: Int
    /// This machine's address and port; empty and 0 if there was no connection.
    public var localAddress: String
    public var localPort: Int

    init(_ metrics: TransferMetrics) {
        func seconds(_ time: Duration) -> Double { time / .seconds(1) }
        begin = Timestamp(metrics.begin)
        nameLookup = seconds(metrics.nameLookup)
        connect = seconds(metrics.connect)
        secureConnect = seconds(metrics.secureConnect)
        request = seconds(metrics.request)
        firstByte = seconds(metrics.firstByte)
        total = seconds(metrics.total)
        (redirects, version, isReused) = (metrics.redirects, metrics.version, metrics.isReused)
        responseHeaderBytes = metrics.responseHeaderBytes
        requestHeaderBytes = metrics.requestHeaderBytes
        (remoteAddress, remotePort) = (metrics.remoteAddress, metrics.remotePort)
        (localAddress, localPort) = (metrics.localAddress, metrics.localPort)
    }
}
