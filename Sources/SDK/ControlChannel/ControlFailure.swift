/// Why a host gave no answer that its caller can use.
public enum ControlFailure: Error, Equatable, Sendable {
    /// No host listens on the socket; with the system's words.
    case unreachable(String)
    /// The connection ended before the answer did, or what came is not an answer.
    case broken(String)
    /// The host refused to open a stream.
    case refused(ControlConnection.Answer)
    /// This process does not want the answer any more.
    case cancelled
}
