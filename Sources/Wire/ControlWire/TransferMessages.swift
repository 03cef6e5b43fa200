public import TaskModel

/// A request for a transfer: the body of `POST /v1/transfers`.
public struct TransferRequestMessage: Codable, Equatable, Sendable {
    /// The address, of http or https.
    public var url: String
    /// The bundle whose bytes these are; `nil` means ``commandBundle``.
    public var bundle: BundleIdentifier?
    /// The identifier of the background session; `nil` without one.
    public var session: String?
    /// The number of the task within its session.
    public var taskIdentifier: Int?
    /// `download` (if `nil`) or `upload`.
    public var direction: TransferRequest.Direction?
    /// The method; `nil` means GET for a download and PUT for an upload.
    public var method: String?
    /// Further header lines, each as `Name: value`.
    public var headers: [String]?
    /// The absolute path of the file to send, or to create.
    public var file: String?
    /// Whether the transfer waits for external power and an unmetered network.
    public var discretionary: Bool?
    /// Whether a metered network may be used; `nil` means true.
    public var allowsMetered: Bool?
    /// Whether the network may be used in low-data mode; `nil` means true.
    public var allowsConstrained: Bool?
    /// The transfer does not begin before this time.
    public var earliestBeginDate: Timestamp?
    /// The longest time without a byte, in seconds; `nil` means 60.
    public var stallSeconds: Double?
    /// The longest time to the end, in seconds; `nil` means 7 days.
    public var resourceSeconds: Double?
    /// The wait after the first failed attempt, in seconds; `nil` means 5.
    public var retrySeconds: Double?

    /// The bundle of transfers that a person began with `bgtask transfer`.
    public static let commandBundle = "bgtask.command"

    public init(url: String) { self.url = url }

    /// The request that the message describes.
    ///
    /// - Throws: ``IdentifierError`` never, because the standard bundle is valid; the bundle was checked when
    ///   it was decoded.
    public func request() throws(IdentifierError) -> TransferRequest {
        let owner: BundleIdentifier
        if let bundle { owner = bundle } else { owner = try BundleIdentifier(Self.commandBundle) }
        var request = TransferRequest(bundle: owner, direction: direction ?? .download, url: url)
        request.session = session
        request.taskIdentifier = taskIdentifier
        request.method = method
        request.headers = headers ?? []
        request.file = file
        request.isDiscretionary = discretionary ?? false
        request.allowsMetered = allowsMetered ?? true
        request.allowsConstrained = allowsConstrained ?? true
        request.earliestBeginDate = earliestBeginDate?.time
        func duration(_ seconds: Double) -> Duration {
            .milliseconds(seconds.isFinite ? Int64(min(max(seconds, 0), 3.2e9) * 1000) : 0)
        }
        if let stallSeconds { request.stallLimit = duration(stallSeconds) }
        if let resourceSeconds { request.resourceLimit = duration(resourceSeconds) }
        if let retrySeconds { request.retryDelay = duration(retrySeconds) }
        return request
    }
}

/// The body of `POST /v1/transfers`: one request, or an array of them.
public enum TransferRequestsMessage: Decodable {
    /// One request; the answer is the transfer.
    case one(TransferRequestMessage)
    /// Several requests, of which the host accepts all or none; the answer is ``AcceptedTransfersMessage``.
    case several([TransferRequestMessage])

    /// An element, which is refused if it has a key that the message does not know.
    private struct Element: Decodable {
        /// Found once, because an array can have many elements.
        static let keys = MessageKeys(of: TransferRequestMessage.self)
        let message: TransferRequestMessage

        init(from decoder: any Decoder) throws {
            try Self.keys?.check(decoder)
            message = try TransferRequestMessage(from: decoder)
        }
    }

    public init(from decoder: any Decoder) throws {
        // An object comes first: the decoder that finds the valid keys gives every container that it is asked
        // for.
        guard (try? decoder.container(keyedBy: AnyKey.self)) == nil else {
            self = .one(try TransferRequestMessage(from: decoder))
            return
        }
        var array = try decoder.unkeyedContainer()
        var messages: [TransferRequestMessage] = []
        while !array.isAtEnd { messages.append(try array.decode(Element.self).message) }
        self = .several(messages)
    }
}

/// The transfers that the host has accepted together.
public struct AcceptedTransfersMessage: Codable, Equatable, Sendable {
    /// The transfers, in the order of the requests.
    public var transfers: [TransferID]

    public init(transfers: [TransferID]) { self.transfers = transfers }
}

/// One transfer, as `bgtask transfers --json` prints it; every key is always present.
public struct TransferMessage: Codable, Equatable, Sendable {
    /// Why an attempt or the transfer failed.
    public struct Failure: Codable, Equatable, Sendable {
        /// Where the code comes from: `network` (a `CURLcode`), `server` (an HTTP status) or `host`.
        public var domain: TransferFailure.Domain
        /// The code.
        public var code: Int
        /// A sentence for people.
        public var message: String
    }

    /// The transfer's number, such as `T17`.
    public var transfer: TransferID
    /// The bundle whose bytes these are.
    public var bundle: BundleIdentifier
    /// The identifier of the background session; `null` without one.
    @Explicit public var session: String?
    /// The number of the task within its session; `null` without one.
    @Explicit public var taskIdentifier: Int?
    /// `download` or `upload`.
    public var direction: TransferRequest.Direction
    /// The requested address, with `***` in place of the name and the password of a user.
    public var url: String
    /// The file to send, or to create; `null` if the host keeps the downloaded file.
    @Explicit public var file: String?
    /// Whether the transfer waits for external power and an unmetered network.
    public var isDiscretionary: Bool
    /// The state.
    public var state: TransferState
    /// How the transfer ended; `null` if it has not.
    @Explicit public var outcome: TransferOutcome?
    /// When the host accepted it.
    public var submittedAt: Timestamp
    /// When it ended; `null` if it has not.
    @Explicit public var endedAt: Timestamp?
    /// How many attempts have begun.
    public var attempts: Int
    /// The earliest time of the next attempt; `null` if there is none.
    @Explicit public var notBefore: Timestamp?
    /// The bytes of the file that are here, or that the server has received.
    public var completed: Int64
    /// The length of the file; `null` if it is not known.
    @Explicit public var total: Int64?
    /// The bytes that all attempts received.
    public var received: Int64
    /// The bytes that all attempts sent.
    public var sent: Int64
    /// The status of the newest response; `null` if there is none.
    @Explicit public var status: Int?
    /// The address after all redirects, likewise; `null` without a response.
    @Explicit public var finalURL: String?
    /// The header lines of the newest response, without the values of cookies; `null` without one.
    @Explicit public var responseHeaders: [String]?
    /// Why the newest attempt failed, or the transfer; `null` if neither did.
    @Explicit public var failure: Failure?
    /// The policies that hold the next attempt; `null` in events.
    @Explicit public var vetoes: [VerdictMessage]?
    /// When the next attempt will probably begin; `null` in events and listings, and if no policy holds it.
    @Explicit public var forecast: ForecastMessage?

    public init(_ transfer: Transfer, vetoes: [Verdict]? = nil, forecast: Forecast? = nil) {
        self.forecast = forecast.map(ForecastMessage.init)
        let request = transfer.request
        self.transfer = transfer.id
        bundle = request.bundle
        direction = request.direction
        url = request.publicURL
        isDiscretionary = request.isDiscretionary
        state = transfer.state
        submittedAt = Timestamp(transfer.submittedAt)
        attempts = transfer.attempts
        completed = transfer.completed
        received = transfer.received
        sent = transfer.sent
        session = request.session
        taskIdentifier = request.taskIdentifier
        file = request.file
        outcome = transfer.outcome
        endedAt = transfer.endedAt.map(Timestamp.init)
        notBefore = transfer.notBefore.map(Timestamp.init)
        total = transfer.total
        status = transfer.response?.status
        finalURL = transfer.response.map { TransferRequest.withoutUser($0.url) }
        responseHeaders = transfer.response?.publicHeaders
        failure = transfer.failure.map { Failure(domain: $0.domain, code: $0.code, message: $0.message) }
        self.vetoes = vetoes.map { $0.map(VerdictMessage.init) }
    }

    public init(_ explained: ExplainedTransfer) {
        self.init(explained.transfer, vetoes: explained.vetoes, forecast: explained.forecast)
    }
}

/// The bytes of a bundle's transfers on one day.
public struct TransferBytesMessage: Codable, Equatable, Sendable {
    /// The received bytes.
    public var received: Int64
    /// The sent bytes.
    public var sent: Int64
    /// How many of the received bytes came by a metered network.
    public var meteredReceived: Int64
    /// How many of the sent bytes went by a metered network.
    public var meteredSent: Int64

    public init(_ bytes: TransferBytes) {
        received = bytes.received
        sent = bytes.sent
        meteredReceived = bytes.meteredReceived
        meteredSent = bytes.meteredSent
    }
}
