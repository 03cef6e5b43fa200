import Digests
import RunnerWire
import TaskModel

/// The messages of the program, as values of the model.
extension TransferResponseMessage {
    var id: TransferID { TransferID(rawValue: transfer.bounded) }
    var length: Int64? { total?.bounded }
    var response: TransferResponse {
        TransferResponse(
            status: Int(status.bounded), url: url ?? "",
            // Bytes, because Swift would look for the whole characters of the text first.
            headers: (headers ?? "").utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) })
    }
}

extension TransferProgressMessage {
    var id: TransferID { TransferID(rawValue: transfer.bounded) }
}

extension TransferEndedMessage {
    var id: TransferID { TransferID(rawValue: transfer.bounded) }

    /// How the attempt ended, with the failure in its domain.
    var attemptEnd: TransferAttemptEnd {
        TransferAttemptEnd(
            end, completed: completed.bounded, failure: failure,
            retryAfter: retryAfterSeconds.map { .seconds(Int64(min($0, 1 << 40))) },
            metrics: metrics.flatMap(TransferMetrics.init), answer: answer.map { Base64.encode($0) },
            hasAnswerFile: hasAnswerFile, hasLostAnswer: hasLostAnswer)
    }

    private var failure: TransferFailure? {
        guard let message else { return nil }
        if let code { return TransferFailure(domain: .network, code: Int(code.bounded), message: message) }
        if let status, end == .refused || end == .busy {
            return TransferFailure(domain: .server, code: Int(status.bounded), message: message)
        }
        return TransferFailure(.local, message)
    }
}

extension UInt64 {
    /// The number, or 2^50 if it is greater.
    ///
    /// No length or count of bytes is greater. A process that speaks to the network sends these numbers, so
    /// they must not trap.
    var bounded: Int64 { Int64(Swift.min(self, 1 << 50)) }
}
