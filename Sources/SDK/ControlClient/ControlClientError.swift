public import ControlWire
import TaskModel

/// Why a call of the control API failed.
public enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No host accepts connections on the socket.
    case unreachable(socket: String, cause: String)
    /// The host refused the request, for this reason.
    case refused(ErrorMessage)
    /// The host sent nothing for this number of seconds; it may still have accepted the request.
    case timedOut(socket: String, seconds: Int)
    /// The response is not valid or not complete.
    case broken(socket: String, finding: String)
    /// The request can't be written as JSON, so it was not sent.
    case notSent(socket: String, cause: String)

    /// A description in one line.
    public var description: String {
        switch self {
        case .unreachable(let socket, let cause): "No host answers on \(socket): \(cause)"
        case .refused(let message): message.description
        case .timedOut(let socket, let seconds): "The host on \(socket) did not answer within \(seconds) s"
        case .broken(let socket, let finding): "The host on \(socket) sent an invalid answer: \(finding)"
        case .notSent(let socket, let cause):
            "Nothing was sent to the host on \(socket), because the request can't be written as JSON: \(cause)"
        }
    }
}

extension ControlClientError {
    /// Whether a host refused a listing in rows, because it is older than they are.
    var isOfHostWithoutRows: Bool {
        guard case .refused(let message) = self else { return false }
        return message.code == SubmissionError.Code.invalidRequest.rawValue
            && message.finding.contains("query parameter: 'form'")
    }
}
