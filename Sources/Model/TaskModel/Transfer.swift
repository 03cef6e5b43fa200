/// The state of a transfer; the database contains the raw values.
public enum TransferState: String, Sendable, Codable, CaseIterable {
    /// No attempt is under way: the transfer waits for conditions, for others, or for its next attempt.
    case waiting
    /// An attempt is under way.
    case running
    /// All bytes are here and durable; the file is put into its place.
    case finishing
    /// The transfer has ended.
    case ended
}

/// How a transfer ended; the database contains the raw values.
public enum TransferOutcome: String, Sendable, Codable, CaseIterable {
    /// The server answered with a success, and the file is complete and in its place.
    case succeeded
    /// The server's final answer was not a success, such as 404 or 401.
    case refused
    /// The transfer can't succeed, or its time was over.
    case failed
    /// A user or a client cancelled it.
    case cancelled
}

/// What the server said in its newest final response.
public struct TransferResponse: Equatable, Sendable, Codable {
    /// The status, such as 200.
    public var status: Int
    /// The address after all redirects.
    public var url: String
    /// The header lines, the status line first.
    public var headers: [String]
    /// The strong ETag; `nil` if there is none.
    public var etag: String?
    /// The date of the last change, if a download may be resumed by it; `nil` otherwise.
    public var lastModified: String?

    /// Creates a response.
    public init(
        status: Int, url: String, headers: [String], etag: String? = nil, lastModified: String? = nil
    ) {
        self.status = status
        self.url = url
        self.headers = headers
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// Why an attempt or a transfer failed.
public struct TransferFailure: Equatable, Sendable, Codable {
    /// Where the code comes from; the raw values are part of the control API.
    public enum Domain: String, Sendable, Codable {
        /// libcurl; the code is a `CURLcode`.
        case network
        /// The server; the code is an HTTP status.
        case server
        /// The host; see ``HostCode``.
        case host
    }

    /// The codes of the domain `host`; they never change.
    public enum HostCode: Int, Sendable {
        /// The transfer's own file or program failed.
        case local = 1
        /// The transfer took longer than its limit.
        case timedOut = 2
        /// It was cancelled.
        case cancelled = 3
        /// The file could not be put into its place.
        case notDelivered = 4
    }

    /// Where the code comes from.
    public var domain: Domain
    /// The code.
    public var code: Int
    /// A sentence for people.
    public var message: String

    /// Creates a failure.
    public init(domain: Domain, code: Int, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }

    /// Creates a failure of the host.
    public init(_ code: HostCode, _ message: String) {
        self.init(domain: .host, code: code.rawValue, message: message)
    }
}

/// One transfer, as the host stores it.
public struct Transfer: Equatable, Sendable, Codable {
    /// The number of the transfer.
    public let id: TransferID
    /// What was requested.
    public var request: TransferRequest
    /// When the host accepted it.
    public var submittedAt: WallTime
    /// The state.
    public var state = TransferState.waiting
    /// How many attempts have begun.
    public var attempts = 0
    /// How many attempts in a row ended without a new byte.
    public var failures = 0
    /// The earliest time of the next attempt; `nil` if it may begin now.
    public var notBefore: WallTime?
    /// The newest final response; `nil` if there is none.
    public var response: TransferResponse?
    /// The bytes of the file that are here, or that the server has received.
    public var completed: Int64 = 0
    /// The length of the file; `nil` if it is not known.
    public var total: Int64?
    /// The bytes of bodies that all attempts received, including those that were received twice.
    public var received: Int64 = 0
    /// The bytes of bodies that all attempts sent.
    public var sent: Int64 = 0
    /// Why the newest attempt failed, or the transfer; `nil` if neither did.
    public var failure: TransferFailure?
    /// How the transfer ended; `nil` if it has not.
    public var outcome: TransferOutcome?
    /// When the transfer ended; `nil` if it has not.
    public var endedAt: WallTime?
    /// Whether the delegate of its session has handled its end; `nil` means no.
    public var isTold: Bool?
    /// Whether the bytes of a download that did not succeed are kept, so that another can continue it; `nil`
    /// means no.
    public var keepsPart: Bool?

    /// Creates a transfer that waits.
    public init(id: TransferID, request: TransferRequest, submittedAt: WallTime) {
        self.id = id
        self.request = request
        self.submittedAt = submittedAt
    }

    /// Whether a session must still hear how the transfer ended.
    public var isUntold: Bool {
        request.session != nil && request.handover != nil && state == .ended && isTold != true
    }

    /// When the transfer fails, if it has not ended.
    public var deadline: WallTime { submittedAt + request.resourceLimit }
}

/// The bytes of one bundle's transfers on one day.
public struct TransferBytes: Equatable, Sendable, Codable {
    /// Bytes of bodies that were received.
    public var received: Int64 = 0
    /// Bytes of bodies that were sent.
    public var sent: Int64 = 0
    /// How many of the received bytes came by a metered network.
    public var meteredReceived: Int64 = 0
    /// How many of the sent bytes went by a metered network.
    public var meteredSent: Int64 = 0

    /// Creates an account without bytes.
    public init() {}

    /// Adds bytes.
    public mutating func add(received: Int64, sent: Int64, isMetered: Bool) {
        self.received += received
        self.sent += sent
        if isMetered {
            meteredReceived += received
            meteredSent += sent
        }
    }
}

/// The bytes of one bundle's transfers on the last days.
public struct TransferUse: Equatable, Sendable, Codable {
    /// The number of days that are kept.
    public static let keptDays: Int64 = 35

    /// The bytes by local day, as days since 1970.
    public private(set) var days: [Int64: TransferBytes] = [:]

    /// Creates a use without bytes.
    public init() {}

    /// Adds bytes to a day, and forgets old days.
    public mutating func add(received: Int64, sent: Int64, isMetered: Bool, on day: Int64) {
        days[day, default: TransferBytes()].add(received: received, sent: sent, isMetered: isMetered)
        days = days.filter { $0.key > day - Self.keptDays }
    }
}

/// How an attempt of a transfer ended.
public struct TransferAttemptEnd: Equatable, Sendable {
    /// The kinds of ends; the raw values are those of the program `bgtask-transfer`.
    public enum Kind: UInt64, Sendable, CaseIterable {
        /// The file is complete and durable, or the upload was accepted.
        case finished = 0
        /// The server's final response is not a success.
        case answered = 1
        /// The network, the server or the disk failed.
        case faulty = 2
        /// The server asked for another attempt.
        case busy = 3
        /// Another attempt would fail in the same way.
        case refused = 4
        /// The host cancelled the attempt.
        case cancelled = 5
        /// The program ended during the attempt.
        case lost = 100
    }

    /// The kind.
    public var kind: Kind
    /// The bytes of the file that are here, for a download; `nil` if they are not known.
    public var completed: Int64?
    /// Why the attempt failed; `nil` if it did not.
    public var failure: TransferFailure?
    /// How long the server wants to be left alone; `nil` if it said nothing.
    public var retryAfter: Duration?

    /// Creates an end.
    public init(
        _ kind: Kind, completed: Int64? = nil, failure: TransferFailure? = nil, retryAfter: Duration? = nil
    ) {
        self.kind = kind
        self.completed = completed
        self.failure = failure
        self.retryAfter = retryAfter
    }
}

/// A report about a transfer, from the program that makes it.
public enum TransferReport: Equatable, Sendable {
    /// The final response has arrived; `total` is the length of the file, if it is known.
    case response(TransferID, TransferResponse, total: Int64?)
    /// How far the transfer is; `received` and `sent` count the bytes of this attempt.
    case progress(TransferID, completed: Int64, total: Int64?, received: Int64, sent: Int64)
    /// The attempt has ended; `received` and `sent` count its bytes.
    case ended(TransferID, TransferAttemptEnd, received: Int64, sent: Int64)
    /// The file was put into its place, or could not be.
    case delivered(TransferID, TransferFailure?)
}

/// A transfer, and what holds its next attempt.
public struct ExplainedTransfer: Equatable, Sendable {
    /// The transfer.
    public var transfer: Transfer
    /// The policies that hold the next attempt; empty unless the transfer waits.
    public var vetoes: [Verdict]

    public init(transfer: Transfer, vetoes: [Verdict]) {
        self.transfer = transfer
        self.vetoes = vetoes
    }
}
