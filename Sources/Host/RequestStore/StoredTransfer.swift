import TaskModel

/// The JSON form of ``Transfer`` in the database.
///
/// The form belongs to the store and must not change when a type of the model or the control API changes,
/// because existing databases contain it. Values that are missing from older rows get their defaults.
struct StoredTransfer: Codable {
    struct Request: Codable {
        var bundle: BundleIdentifier
        var session: String?
        var taskIdentifier: Int?
        var direction: TransferRequest.Direction
        var url: String
        var method: String?
        var headers: [String]
        var file: String?
        var handover: String?
        var note: String?
        var priority: Double?
        var sendsLaunchEvents: Bool?
        var asksBeforeBegin: Bool?
        var resumes: TransferID?
        var isDiscretionary: Bool
        var allowsMetered: Bool
        var allowsConstrained: Bool
        var earliestBeginDate: StoredInstant?
        var expectedToSend: Int64?
        var expectedToReceive: Int64?
        var stallLimit: Duration
        var resourceLimit: Duration
        var retryDelay: Duration
    }

    struct Response: Codable {
        var status: Int
        var url: String
        var headers: [String]
    }

    struct Failure: Codable {
        var domain: TransferFailure.Domain
        var code: Int
        var message: String
    }

    var id: TransferID
    var request: Request
    var submittedAt: StoredInstant
    var state: TransferState
    var attempts: Int
    var failures: Int
    var notBefore: StoredInstant?
    var response: Response?
    var completed: Int64
    var total: Int64?
    var received: Int64
    var sent: Int64
    var failure: Failure?
    var outcome: TransferOutcome?
    var endedAt: StoredInstant?
    var isTold: Bool?
    var keepsPart: Bool?
    var metrics: String?
    var answer: String?
    var answerFile: String?

    init(_ transfer: Transfer) {
        id = transfer.id
        request = Request(transfer.request)
        submittedAt = StoredInstant(transfer.submittedAt)
        (state, attempts, failures) = (transfer.state, transfer.attempts, transfer.failures)
        notBefore = transfer.notBefore.map(StoredInstant.init)
        response = transfer.response.map { Response(status: $0.status, url: $0.url, headers: $0.headers) }
        (completed, total) = (transfer.completed, transfer.total)
        (received, sent) = (transfer.received, transfer.sent)
        failure = transfer.failure.map { Failure(domain: $0.domain, code: $0.code, message: $0.message) }
        outcome = transfer.outcome
        endedAt = transfer.endedAt.map(StoredInstant.init)
        (isTold, keepsPart) = (transfer.isTold, transfer.keepsPart)
        (metrics, answer) = (transfer.metrics?.text, transfer.answer)
        answerFile = transfer.answerFile
    }

    /// The stored transfer, as the type that the host uses.
    var transfer: Transfer {
        var result = Transfer(id: id, request: request.request, submittedAt: submittedAt.time)
        (result.state, result.attempts, result.failures) = (state, attempts, failures)
        result.notBefore = notBefore?.time
        result.response = response.map {
            TransferResponse(status: $0.status, url: $0.url, headers: $0.headers)
        }
        (result.completed, result.total) = (completed, total)
        (result.received, result.sent) = (received, sent)
        result.failure = failure.map {
            TransferFailure(domain: $0.domain, code: $0.code, message: $0.message)
        }
        result.outcome = outcome
        result.endedAt = endedAt?.time
        (result.isTold, result.keepsPart) = (isTold, keepsPart)
        result.metrics = metrics.flatMap(TransferMetrics.init)
        (result.answer, result.answerFile) = (answer, answerFile)
        return result
    }
}

extension StoredTransfer.Request {
    init(_ request: TransferRequest) {
        bundle = request.bundle
        (session, taskIdentifier) = (request.session, request.taskIdentifier)
        (direction, url, method) = (request.direction, request.url, request.method)
        (headers, file) = (request.headers, request.file)
        (handover, note, priority) = (request.handover, request.note, request.priority)
        (sendsLaunchEvents, asksBeforeBegin) = (request.sendsLaunchEvents, request.asksBeforeBegin)
        resumes = request.resumes
        isDiscretionary = request.isDiscretionary
        (allowsMetered, allowsConstrained) = (request.allowsMetered, request.allowsConstrained)
        earliestBeginDate = request.earliestBeginDate.map(StoredInstant.init)
        (expectedToSend, expectedToReceive) = (request.expectedToSend, request.expectedToReceive)
        (stallLimit, resourceLimit) = (request.stallLimit, request.resourceLimit)
        retryDelay = request.retryDelay
    }

    var request: TransferRequest {
        var result = TransferRequest(bundle: bundle, direction: direction, url: url)
        (result.session, result.taskIdentifier) = (session, taskIdentifier)
        result.method = method
        (result.headers, result.file) = (headers, file)
        (result.handover, result.note, result.priority) = (handover, note, priority)
        (result.sendsLaunchEvents, result.asksBeforeBegin) = (sendsLaunchEvents, asksBeforeBegin)
        result.resumes = resumes
        result.isDiscretionary = isDiscretionary
        (result.allowsMetered, result.allowsConstrained) = (allowsMetered, allowsConstrained)
        result.earliestBeginDate = earliestBeginDate?.time
        (result.expectedToSend, result.expectedToReceive) = (expectedToSend, expectedToReceive)
        (result.stallLimit, result.resourceLimit) = (stallLimit, resourceLimit)
        result.retryDelay = retryDelay
        return result
    }
}

/// The JSON form of ``TransferUse`` in the database.
struct StoredTransferUse: Codable {
    struct Bytes: Codable {
        var received: Int64
        var sent: Int64
        var meteredReceived: Int64
        var meteredSent: Int64
    }

    /// The bytes by local day; in JSON, days and bytes alternate in one list.
    var days: [Int64: Bytes]

    init(_ use: TransferUse) {
        days = use.days.mapValues {
            Bytes(
                received: $0.received, sent: $0.sent, meteredReceived: $0.meteredReceived,
                meteredSent: $0.meteredSent)
        }
    }

    /// The stored use, as the type that the host uses.
    var use: TransferUse {
        TransferUse(
            days: days.mapValues {
                TransferBytes(
                    received: $0.received, sent: $0.sent, meteredReceived: $0.meteredReceived,
                    meteredSent: $0.meteredSent)
            })
    }
}
