public import TaskModel

/// The body of `POST /v1/bundles/BUNDLE/push-secret`.
public struct PushSecretChangeMessage: Codable, Equatable, Sendable {
    /// What to do with the secrets.
    public var change: PushSecretChange

    public init(change: PushSecretChange) { self.change = change }
}

/// The secrets of a bundle after a change; only the answer to a change has the secret itself.
public struct PushSecretMessage: Codable, Equatable, Sendable {
    /// The path of the file with the secrets.
    public var path: String
    /// The new secret; `null` if the change made none.
    @Explicit public var secret: String?
    /// How many secrets the host accepts.
    public var count: Int

    public init(_ facts: PushSecretFacts) {
        path = facts.path
        count = facts.count
        secret = facts.secret
    }
}

/// Where servers send the pushes of a bundle, by UnifiedPush.
public struct PushEndpointMessage: Codable, Equatable, Sendable {
    /// The bundle that gets the pushes.
    public var bundle: BundleIdentifier
    /// The bus name of the distributor.
    public var distributor: String
    /// The URL; `null` until the distributor gives one.
    @Explicit public var endpoint: String?

    public init(_ endpoint: PushEndpoint) {
        bundle = endpoint.bundle
        distributor = endpoint.distributor
        self.endpoint = endpoint.endpoint
    }
}
