public import Pushes

/// The settings of pushes from outside.
public struct PushSettings: Equatable, Sendable {
    /// The address of the listener, such as `127.0.0.1:8765`; empty means that there is none.
    public var listen = ""
    /// The path of the chain of certificates; empty means no TLS.
    public var certificate = ""
    /// The path of the key of the certificate.
    public var key = ""
    /// How many pushes a bundle gets at once, and then in each minute.
    public var perMinute = 60
    /// The same number for all bundles together.
    public var perMinuteInAll = 600

    /// The text of the distributor of UnifiedPush: `none`, `any` or a bus name.
    public var distributorText = "none"

    /// The distributor of UnifiedPush.
    public var distributor: DistributorChoice { DistributorChoice(distributorText) ?? .none }

    /// Creates the default settings, without a listener.
    public init() {}

    /// The address of the listener; `nil` if there is none.
    public var address: ListenAddress? { listen.isEmpty ? nil : try? ListenAddress(listen) }

    /// The paths of the certificate and its key; `nil` for no TLS.
    public var certificates: (chain: String, key: String)? {
        certificate.isEmpty || key.isEmpty ? nil : (certificate, key)
    }

    /// The greatest numbers of pushes.
    public var rates: PushRates.Limits { .init(perBundle: perMinute, inAll: perMinuteInAll) }

    /// Values that are valid but contradict each other, each with a remedy.
    var doubts: [(finding: String, remedy: String)] {
        guard let address else { return [] }
        if certificate.isEmpty != key.isEmpty {
            return [
                (
                    "only one of pushes.certificate and pushes.key is set, so the listener for pushes has no TLS",
                    "Set both, or neither"
                )
            ]
        }
        if !address.isLoopback, certificates == nil {
            return [
                (
                    "pushes.listen is \(address), which other machines can reach, without TLS: others on the way can read the pushes",
                    "Set pushes.certificate and pushes.key, or listen at 127.0.0.1 behind a proxy with TLS"
                )
            ]
        }
        return []
    }
}
