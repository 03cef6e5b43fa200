/// What a `cancel` or an `expire` points at.
public enum ControlTarget: Hashable, Sendable, CustomStringConvertible {
    /// `R17`.
    case request(RequestID)
    /// `L42`.
    case launch(LaunchID)
    /// Whatever is pending or running under this name.
    case identifier(TaskIdentifier)

    /// Parses `R17`, `L42` or an identifier, in this order.
    ///
    /// - Throws: ``IdentifierError`` if it is none of them.
    public init(_ text: String) throws(IdentifierError) {
        if let request = RequestID(text) {
            self = .request(request)
        } else if let launch = LaunchID(text) {
            self = .launch(launch)
        } else {
            self = .identifier(try TaskIdentifier(text))
        }
    }

    /// As it is parsed.
    public var description: String {
        switch self {
        case .request(let id): id.description
        case .launch(let id): id.description
        case .identifier(let identifier): identifier.description
        }
    }
}
