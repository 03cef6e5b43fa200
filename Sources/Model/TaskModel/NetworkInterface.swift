/// What a way to the network is made of.
public enum NetworkInterface: String, Sendable, Codable, CaseIterable {
    /// A wireless local network.
    case wifi
    /// A network of mobile phones.
    case cellular
    /// A cable.
    case wired
    /// Anything else: a VPN, a bridge of a container, a serial line.
    case other
}
