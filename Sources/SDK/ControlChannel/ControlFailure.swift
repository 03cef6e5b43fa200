/// Why a request to a host failed.
public enum ControlFailure: Error, Equatable, Sendable {
    /// No host accepts connections on the socket; the text is the system's error message.
    case unreachable(String)
    /// The connection ended before the response was complete, or the bytes are not a valid response.
    case broken(String)
    /// The host sent nothing for this number of seconds, or did not read the request.
    case timedOut(seconds: Int)
    /// The host refused to open a stream.
    case refused(ControlConnection.Answer)
    /// The caller cancelled the request.
    case cancelled
}
