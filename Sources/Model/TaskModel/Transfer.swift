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

/// One transfer, as the host stores it.
public struct Transfer: Equatable, Sendable {
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
    /// What the newest request cost; `nil` if it is not known, and for transfers without a session, because
    /// only delegates ask for it.
    public var metrics: TransferMetrics?
    /// The body of the answer to an upload of a session, as base64 text, until the delegate has it; `nil` if
    /// there is none, or if it is longer than 16 KiB.
    public var answer: String?
    /// The name of the file with a longer answer, in the bundle's handover directory; `nil` if there is none.
    public var answerFile: String?

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

    /// How much of its time is left, as far as the wall clock tells: from zero to its limit.
    public func timeLeft(at now: WallTime) -> Duration {
        min(max(submittedAt + request.resourceLimit - now, .zero), request.resourceLimit)
    }
}

/// A transfer, and what holds its next attempt.
public struct ExplainedTransfer: Equatable, Sendable {
    /// The transfer.
    public var transfer: Transfer
    /// The policies that hold the next attempt; empty unless the transfer waits.
    public var vetoes: [Verdict]
    /// When the next attempt will probably begin; `nil` in listings, and if no policy holds it.
    public var forecast: Forecast?

    public init(transfer: Transfer, vetoes: [Verdict], forecast: Forecast? = nil) {
        self.transfer = transfer
        self.vetoes = vetoes
        self.forecast = forecast
    }
}
