public import ControlWire

/// Why a call of the control API gave no answer.
public enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No host answers on the socket.
    case unreachable(socket: String, cause: String)
    /// The host refused, and says why.
    case refused(ErrorMessage)
    /// What came back is no answer of this API, or stopped in the middle.
    case broken(socket: String, finding: String)

    /// What happened, in one line.
    public var description: String {
        switch self {
        case .unreachable(let socket, let cause): "No host answers on \(socket): \(cause)"
        case .refused(let message): message.description
        case .broken(let socket, let finding): "The host on \(socket) gave no proper answer: \(finding)"
        }
    }
}
