public import TaskModel

/// A pending request as a table shows it: one row of `GET /v1/requests?form=rows`.
public struct PendingListingRow: Equatable, Sendable {
    /// The request's id, such as `R17`.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the request's next launch, from 1.
    public var attempt: Int
    /// When the host accepted the request.
    public var submittedAt: Timestamp
    /// The earliest time of the next launch: the later one of the earliest begin date and of a retry's; `nil`
    /// if there is none.
    public var earliestStart: Timestamp?
    /// The tags, sorted.
    public var tags: [Tag]
    /// What the request waits for, in one sentence.
    public var waits: String

    /// Copies the columns of a summary.
    public init(_ summary: PendingSummaryMessage) {
        request = summary.request
        identifier = summary.identifier
        kind = summary.kind
        attempt = summary.attempt
        submittedAt = summary.submittedAt
        earliestStart = summary.earliestStart
        tags = summary.tags ?? []
        waits = summary.waits
    }

    /// Decodes a row.
    ///
    /// - Parameter line: The array, as ``lines(of:)`` writes it.
    /// - Throws: A sentence about the first value that is not valid.
    public init(line: ArraySlice<UInt8>) throws {
        var values = try JSONRowReader(line)
        request = RequestID(rawValue: try values.number())
        identifier = try TaskIdentifier(values.string())
        kind = try values.word()
        attempt = Int(try values.number())
        submittedAt = Timestamp(WallTime(milliseconds: try values.number()))
        earliestStart = try values.optionalNumber().map { Timestamp(WallTime(milliseconds: $0)) }
        tags = try values.strings().map { try Tag($0) }
        waits = try values.string()
        try values.end()
    }

    /// Encodes rows: each is an array on its own line.
    ///
    /// - Parameter summaries: The requests.
    /// - Returns: The lines.
    public static func lines(of summaries: [PendingSummary]) -> [UInt8] {
        var text = JSONText()
        for summary in summaries {
            let request = summary.request
            text.raw("[")
            text.number(request.id.rawValue)
            text.raw(",")
            text.string(request.identifier.rawValue)
            text.raw(",")
            text.string(request.kind.rawValue)
            text.raw(",")
            text.number(Int64(request.attempt))
            text.raw(",")
            text.number(request.submittedAt.milliseconds)
            text.raw(",")
            text.number(summary.earliestStart?.milliseconds)
            text.raw(",")
            text.strings(request.submission.tags.lazy.map(\.rawValue))
            text.raw(",")
            text.string(summary.waits)
            text.raw("]\n")
        }
        return text.bytes
    }
}

extension PendingSummaryMessage {
    /// What the request waits for: the headline or, from a host without headlines, the first reason and the
    /// number of others.
    public var waits: String { Waits.text(headline, reason, others: otherReasons) }
}

extension PendingSummary {
    /// The same text as in ``PendingSummaryMessage/waits``.
    fileprivate var waits: String {
        // The words of the reason are only made if they are needed.
        headline.isEmpty ? Waits.text(nil, firstReason, others: otherReasons) : headline
    }

    /// The earliest time of the next launch: the later one of the earliest begin date and of a retry's.
    var earliestStart: WallTime? {
        [request.submission.earliestBeginDate, request.notBefore].compactMap(\.self).max()
    }

    /// The first reason why the request waits, in words; `nil` if it may start now.
    var firstReason: String? { reason.map { $0.rationale.first?.statement ?? $0.policy } }
}

/// The text of the column that says what a request waits for.
private enum Waits {
    static func text(_ headline: String?, _ reason: String?, others: Int) -> String {
        if let headline, !headline.isEmpty { return headline }
        return (reason ?? "") + (others > 0 ? " (and \(others) more)" : "")
    }
}
