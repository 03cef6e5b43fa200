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
    /// The kinds of interfaces that the monitor asks for and the machine uses.
    private let types: Set<NWInterface.InterfaceType>

    /// Makes the path of a network.
    ///
    /// - Parameters:
    ///   - network: The network, as the host reports it.
    ///   - interfaces: What it is made of, as the host reports it; without a report, it is `other`.
    ///   - excluded: The kinds of interfaces for which the monitor does not ask.
    init(
        _ network: MachineConditions.Network, _ interfaces: MachineConditions.Interfaces,
        without excluded: Set<NWInterface.InterfaceType>
    ) {
        self.network = network
        let used = NWInterface.kinds.filter { interfaces.contains($0.value) }.map(\.key)
        types = Set(used.isEmpty ? [.other] : used).subtracting(excluded)
    }

    /// Whether data can be sent; the host knows only whether the machine has a network, not whether a server
    /// answers.
    public var status: Status {
        if types.isEmpty { return .unsatisfied }
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

    /// The interfaces of the default routes, one for each type, while there is a network.
    ///
    /// Wi-Fi comes first, then a cable, a mobile network, and others.
    public var availableInterfaces: [NWInterface] {
        guard status == .satisfied else { return [] }
        return [.wifi, .wiredEthernet, .cellular, .other].filter(types.contains).map(NWInterface.init)
    }

    /// Whether the network uses an interface of a type.
    ///
    /// The host asks the kernel what the devices of the default routes are. `other` is a VPN, a virtual
    /// device of a container, or what the host does not know; an older host knows none. To find out whether
    /// data costs money, ask ``isExpensive`` instead of `cellular`: a phone's hotspot is `wifi`.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        status == .satisfied && types.contains(type)
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
    /// What a network is made of.
    public enum InterfaceType: Hashable, Sendable, CaseIterable {
        /// A VPN, a virtual device, or an unknown one.
        case other
        /// A wireless local network.
        case wifi
        /// A network of mobile phones.
        case cellular
        /// A cable.
        case wiredEthernet
        /// The machine itself; no way to a network uses it.
        case loopback
    }

    /// What it is made of.
    public let type: InterfaceType
    /// The name of the type; the host does not tell the name of the device.
    public var name: String { "\(type)" }
    /// Always 0.
    public var index: Int { 0 }

    static let kinds: [InterfaceType: MachineConditions.Interfaces] = [
        .wifi: .wifi, .cellular: .cellular, .wiredEthernet: .wired, .other: .other,
    ]

    init(_ type: InterfaceType) { self.type = type }

    /// The name.
    public var debugDescription: String { name }
}
