/// How an attempt of a transfer ended.
public struct TransferAttemptEnd: Equatable, Sendable {
    /// The kinds of ends; the raw values are those of the program `bgtask-transfer`.
    public enum Kind: UInt64, Sendable, CaseIterable {
        /// The file is complete and durable, or the upload was accepted.
        case finished = 0
        /// The server refused: its final response is not a success.
        case refused = 1
        /// The network, the server or the disk failed.
        case faulty = 2
        /// The server asked for another attempt.
        case busy = 3
        /// Another attempt would fail in the same way.
        case futile = 4
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
    /// What the newest request cost; `nil` if none was measured.
    public var metrics: TransferMetrics?
    /// The body of the answer to an upload, as base64 text; `nil` if there was none, or if it was longer than
    /// 16 KiB.
    public var answer: String?
    /// Whether the answer to an upload is in the transfer's file, because it is longer.
    public var hasAnswerFile: Bool
    /// Whether the answer to an upload was not kept: it is longer than 1 MiB, or its file can't be written.
    public var hasLostAnswer: Bool

    /// Creates an end.
    public init(
        _ kind: Kind, completed: Int64? = nil, failure: TransferFailure? = nil, retryAfter: Duration? = nil,
        metrics: TransferMetrics? = nil, answer: String? = nil, hasAnswerFile: Bool = false,
        hasLostAnswer: Bool = false
    ) {
        self.kind = kind
        self.completed = completed
        self.failure = failure
        self.retryAfter = retryAfter
        self.metrics = metrics
        self.answer = answer
        self.hasAnswerFile = hasAnswerFile
        self.hasLostAnswer = hasLostAnswer
    }
}

/// A report about a transfer, from the program that makes it.
public enum TransferReport: Equatable, Sendable {
    /// The final response has arrived; `total` is the length of the file, if it is known, and `isWhole` says
    /// that all bytes of a download are here and only the disk is waited for.
    case response(TransferID, TransferResponse, total: Int64?, isWhole: Bool = false)
    /// A reserved transfer has begun, because a place was free.
    case began(TransferID)
    /// How far the transfer is; `received` and `sent` count the bytes of this attempt.
    case progress(TransferID, completed: Int64, total: Int64?, received: Int64, sent: Int64)
    /// The attempt has ended; `received` and `sent` count its bytes.
    case ended(TransferID, TransferAttemptEnd, received: Int64, sent: Int64)
    /// The file was put into its place, or could not be.
    case delivered(TransferID, TransferFailure?)
}
