/// The request, launch or task to which a `cancel` or an `expire` applies.
public enum ControlTarget: Hashable, Sendable, CustomStringConvertible {
    /// One request, such as `R17`.
    case request(RequestID)
    /// One launch, such as `L42`.
    case launch(LaunchID)
    /// The pending requests and running launches of this identifier.
    case identifier(TaskIdentifier)
    /// The pending requests and running launches with this tag; only a `cancel` applies to it.
    case tag(Tag)

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

    /// The target for people; a target other than a tag can be parsed again from it.
    public var description: String {
        switch self {
        case .request(let id): id.description
        case .launch(let id): id.description
        case .identifier(let identifier): identifier.description
        case .tag(let tag): "the tag \(tag)"
        }
    }
}
