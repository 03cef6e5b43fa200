import BackgroundTasks

/// The network of the machine at one moment, as the host sees it.
public struct NWPath: Hashable, Sendable, CustomDebugStringConvertible {
    /// Whether data can be sent.
    public enum Status: Hashable, Sendable {
        /// There is a network.
        case satisfied
        /// There is none.
        case unsatisfied
        /// The host does not know; an attempt will show it.
        case requiresConnection
    }

    /// Why there is no network.
    public enum UnsatisfiedReason: Hashable, Sendable {
        case notAvailable
        case cellularDenied
        case wifiDenied
        case localNetworkDenied
        case vpnInactive
    }

    private let network: MachineConditions.Network
    private let isExcluded: Bool

    /// Makes the path of a network.
    ///
    /// - Parameters:
    ///   - network: The network, as the host reports it.
    ///   - isExcluded: Whether the monitor asks for another kind of interface.
    init(_ network: MachineConditions.Network, isExcluded: Bool) {
        self.network = network
        self.isExcluded = isExcluded
    }

    /// Whether data can be sent; the host knows only whether the machine has a network, not whether a server
    /// answers.
    public var status: Status {
        if isExcluded { return .unsatisfied }
        return switch network {
        case .unknown: .requiresConnection
        case .none: .unsatisfied
        case .constrained, .metered, .unmetered: .satisfied
        }
    }

    /// Always ``UnsatisfiedReason/notAvailable``.
    public var unsatisfiedReason: UnsatisfiedReason { .notAvailable }

    /// Whether the user pays for the data.
    ///
    /// A network in low-data mode counts as one, because the host's conditions have one word for the network,
    /// and such a network is usually metered, too.
    public var isExpensive: Bool { status == .satisfied && (network == .metered || network == .constrained) }

    /// Whether the user switched on low-data mode.
    public var isConstrained: Bool { status == .satisfied && network == .constrained }

    /// Whether there is a network; the host does not tell versions of the protocol apart.
    public var supportsIPv4: Bool { status == .satisfied }
    /// Whether there is a network; the host does not tell versions of the protocol apart.
    public var supportsIPv6: Bool { status == .satisfied }
    /// Whether there is a network.
    public var supportsDNS: Bool { status == .satisfied }

    /// One interface of the type `other`, while there is a network.
    public var availableInterfaces: [NWInterface] { status == .satisfied ? [.theOther] : [] }

    /// Whether the network uses an interface of a type: true for `other` only, while there is a network.
    ///
    /// The host knows what a network costs, not what it is made of. Ask ``isExpensive`` instead of
    /// `cellular`.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        status == .satisfied && type == .other
    }

    /// The status and the costs, in words.
    public var debugDescription: String {
        var words = ["\(status)"]
        if isExpensive { words.append("expensive") }
        if isConstrained { words.append("constrained") }
        return words.joined(separator: ", ")
    }
}

/// A way to the network.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
    /// What a network is made of; the host does not know it, so it is always `other`.
    public enum InterfaceType: Hashable, Sendable, CaseIterable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }

    /// Always `other`.
    public let type: InterfaceType
    /// Always `network`.
    public let name: String
    /// Always 0.
    public let index: Int

    static let theOther = NWInterface(type: .other, name: "network", index: 0)

    /// The name.
    public var debugDescription: String { name }
}
