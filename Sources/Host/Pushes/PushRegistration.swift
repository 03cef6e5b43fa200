/// The registration of a bundle with a distributor of UnifiedPush.
public struct PushRegistration: Codable, Equatable, Sendable {
    /// The secret name of the registration, which only the host and the distributor know.
    public var token: String
    /// The bus name of the distributor.
    public var distributor: String
    /// The address to which servers send pushes; `nil` until the distributor gives one.
    public var endpoint: String?
    /// The endpoint that the bundle was told last; `nil` if it was told none.
    public var announced: String?

    /// Makes a registration without an endpoint.
    public init(
        token: String, distributor: String, endpoint: String? = nil, announced: String? = nil
    ) {
        self.token = token
        self.distributor = distributor
        self.endpoint = endpoint
        self.announced = announced
    }
}

/// Which distributor the host uses.
public enum DistributorChoice: Equatable, Sendable {
    /// None: the host is no connector.
    case none
    /// The one that it used before, or else the first by name.
    case any
    /// The one with this bus name.
    case named(String)

    /// The namespace of the bus names of distributors.
    public static let namespace = "org.unifiedpush.Distributor"

    /// Reads `none`, `any` or a bus name; `nil` for another text.
    public init?(_ text: String) {
        switch text {
        case "", "none": self = .none
        case "any": self = .any
        default:
            guard text.hasPrefix(Self.namespace + "."), text.utf8.count <= 255,
                text.utf8.allSatisfy({ byte in
                    switch byte {
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"),
                        UInt8(ascii: "_"):
                        true
                    default: false
                    }
                })
            else { return nil }
            self = .named(text)
        }
    }
}
