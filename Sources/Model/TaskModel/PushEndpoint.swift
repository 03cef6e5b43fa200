/// Where servers send the pushes of a bundle, by UnifiedPush.
public struct PushEndpoint: Equatable, Sendable {
    /// The bundle that gets the pushes.
    public var bundle: BundleIdentifier
    /// The bus name of the distributor.
    public var distributor: String
    /// The URL; `nil` until the distributor gives one.
    public var endpoint: String?

    public init(bundle: BundleIdentifier, distributor: String, endpoint: String?) {
        self.bundle = bundle
        self.distributor = distributor
        self.endpoint = endpoint
    }
}
