/// What to do with the secrets with which senders sign the pushes of a bundle.
public enum PushSecretChange: String, Sendable, CaseIterable, Codable {
    /// Make the first secret; refused if the bundle has one.
    case create
    /// Make a new secret, and still accept the newest of those before.
    case rotate
    /// Accept only the newest secret.
    case settle
    /// Make a new secret, and accept no other.
    case replace
    /// Remove all secrets, so that the bundle gets no pushes from the network.
    case remove
}

/// The secrets of a bundle after a change.
public struct PushSecretFacts: Equatable, Sendable {
    /// The path of the file, which only the user of the host can read.
    public var path: String
    /// The new secret; `nil` if the change made none.
    public var secret: String?
    /// How many secrets the host accepts.
    public var count: Int

    public init(path: String, secret: String?, count: Int) {
        self.path = path
        self.secret = secret
        self.count = count
    }
}
