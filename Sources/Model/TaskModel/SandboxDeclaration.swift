/// A directory to which a task may write.
public struct WriteGrant: Equatable, Hashable, Sendable, Codable {
    /// The directory; may begin with `~/` and contain `${payload.KEY}`.
    public var path: String
    /// Whether the host creates the directory if it does not exist.
    public var create: Bool

    public init(path: String, create: Bool) {
        self.path = path
        self.create = create
    }
}

/// Which network a task may use.
public enum NetworkGrant: Hashable, Sendable, Codable {
    /// Internet sockets for any purpose: `network: true`.
    case all
    /// TCP connections to these ports, and no server: `network: {connect: [443]}`.
    ///
    /// With port 53, also UDP sockets, because name servers are asked by UDP. The kernel can't limit the
    /// ports of UDP.
    case connect(ports: [UInt16])

    private enum CodingKeys: String, CodingKey { case connect }

    /// Decodes `true`, or an object with the ports.
    public init(from decoder: any Decoder) throws {
        if let values = try? decoder.container(keyedBy: CodingKeys.self) {
            self = .connect(ports: try values.decode([UInt16].self, forKey: .connect))
        } else {
            self = .all
        }
    }

    /// Encodes the form that the manifest has.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .all:
            var value = encoder.singleValueContainer()
            try value.encode(true)
        case .connect(let ports):
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(ports, forKey: .connect)
        }
    }

    /// The port of name servers, which are asked by UDP.
    public static let namePort: UInt16 = 53
}

/// What the tasks of a manifest may access besides their own directories.
public struct SandboxDeclaration: Equatable, Hashable, Sendable {
    /// Which network tasks may use; `nil` means none.
    public var network: NetworkGrant?
    /// The paths that tasks may read.
    public var read: [String]
    /// The directories to which tasks may write.
    public var write: [WriteGrant]
    /// Whether tasks may start processes.
    public var subprocesses: Bool
    /// The device files that tasks may open, as absolute paths below `/dev`.
    public var devices: [String]
    /// The names of variables of the host's environment that tasks may see.
    public var environment: [String]
    /// Whether requests may ask for the GPU, and tasks may open its device files; `nil` means no.
    public var gpu: Bool?

    /// Makes a declaration; by default, it grants nothing.
    public init(
        network: NetworkGrant? = nil, read: [String] = [], write: [WriteGrant] = [],
        subprocesses: Bool = false, devices: [String] = [], environment: [String] = [], gpu: Bool? = nil
    ) {
        self.network = network
        self.read = read
        self.write = write
        self.subprocesses = subprocesses
        self.devices = devices
        self.environment = environment
        self.gpu = gpu
    }
}

extension SandboxDeclaration: Codable {
    private enum CodingKeys: String, CodingKey {
        case network, read, write, subprocesses, devices, environment, gpu
    }

    /// Decodes the output of ``encode(to:)``, and that of older versions, in which `network` could be `false`
    /// and some keys did not exist.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let isRefused = (try? values.decode(Bool.self, forKey: .network)) == false
        try self.init(
            network: isRefused ? nil : values.decodeIfPresent(NetworkGrant.self, forKey: .network),
            read: values.decode([String].self, forKey: .read),
            write: values.decode([WriteGrant].self, forKey: .write),
            subprocesses: values.decode(Bool.self, forKey: .subprocesses),
            devices: values.decodeIfPresent([String].self, forKey: .devices) ?? [],
            environment: values.decodeIfPresent([String].self, forKey: .environment) ?? [],
            gpu: values.decodeIfPresent(Bool.self, forKey: .gpu))
    }

    /// Encodes the keys that are not at their defaults, and those that older versions expect.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(network, forKey: .network)
        try values.encode(read, forKey: .read)
        try values.encode(write, forKey: .write)
        try values.encode(subprocesses, forKey: .subprocesses)
        if !devices.isEmpty { try values.encode(devices, forKey: .devices) }
        if !environment.isEmpty { try values.encode(environment, forKey: .environment) }
        try values.encodeIfPresent(gpu, forKey: .gpu)
    }
}

/// One part of the sandbox, in the order in which a process applies them.
public enum SandboxLayer: String, Sendable, Codable, CaseIterable {
    /// Private namespaces for mounts and for the interprocess communication of System V and POSIX.
    case namespaces
    /// A private network namespace, for tasks that may not use the network.
    case networkNamespace
    /// A user of the bundle's own, whom the files and processes of other bundles do not belong to; only a
    /// host that runs as root can give it.
    case user
    /// No capabilities, also not by the programs that a task executes, and no privileges by set-id programs.
    case capabilities
    /// The kernel's Landlock: only the granted files.
    case landlock
    /// Landlock's rules for the ports of TCP, which `network: {connect: ...}` needs.
    case landlockPorts
    /// Landlock's scopes: no signals to processes, and no connections to abstract sockets, outside the task.
    case landlockScopes
    /// The seccomp filter: no system call that no task needs, and none that the manifest does not grant.
    case seccomp
}

extension SandboxDeclaration {
    /// The layers without which tasks could do much more than the manifest grants.
    ///
    /// Most of what the other layers refuse is refused by one of these, too. Documentation/Manifest.md lists
    /// what is not.
    public var neededLayers: [SandboxLayer] {
        var layers: [SandboxLayer] = [.capabilities, .landlock]
        if case .connect = network { layers.append(.landlockPorts) }
        // Without subprocesses, the seccomp filter permits signals only to the task itself.
        if subprocesses { layers.append(.landlockScopes) }
        return layers + [.seccomp]
    }
}

extension SandboxDeclaration {
    /// Decides whether a launch is refused on a machine.
    ///
    /// - Parameters:
    ///   - isolation: What the machine can enforce.
    ///   - isRequired: Whether the host refuses launches whose manifest counts on a missing layer.
    /// - Returns: The reason, and what to do; `nil` if the host may launch.
    public func refusal(
        by isolation: IsolationReport, isRequired: Bool
    ) -> (finding: String, remedy: String)? {
        let missing = isolation.missing(for: self)
        guard isRequired, !missing.isEmpty else { return nil }
        return (
            "the manifest counts on isolation that this machine lacks: "
                + missing.map(\.rawValue).joined(separator: ", "),
            "'bgtask doctor' shows how to get it. To launch without it, configure isolation: {require: best}"
        )
    }
}
