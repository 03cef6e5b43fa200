public import ControlWire

/// Why a call of the control API failed.
public enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No host accepts connections on the socket.
    case unreachable(socket: String, cause: String)
    /// The host refused the request, for this reason.
    case refused(ErrorMessage)
    /// The response is not valid or not complete.
    case broken(socket: String, finding: String)

    /// A description in one line.
    public var description: String {
        switch self {
        case .unreachable(let socket, let cause): "No host answers on \(socket): \(cause)"
        case .refused(let message): message.description
        case .broken(let socket, let finding): "The host on \(socket) sent an invalid answer: \(finding)"
        }
    }
}
