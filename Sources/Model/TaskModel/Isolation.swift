/// How the host kills all processes of a launch; it uses the strongest method that the machine offers.
public enum GroupKill: String, Sendable, Codable, CaseIterable {
    /// The launch has its own cgroup v2 group, and `cgroup.kill` kills it.
    case cgroup
    /// The launch has its own PID namespace, and killing its init process kills it.
    case pidNamespace
    /// A seccomp filter prevents the launch from starting processes.
    case noFork
}

/// The isolation layers that the host found on the machine, for `bgtask doctor` and each launch record.
public struct IsolationReport: Equatable, Sendable {
    /// One isolation layer.
    public struct Layer: Equatable, Sendable {
        /// The layer's name for people, such as `cgroup v2` or `sandbox: Landlock files`.
        public var name: String
        /// Whether the layer is available.
        public var isAvailable: Bool
        /// Where the layer was found, or why it is not available and what to do.
        public var finding: String

        public init(name: String, isAvailable: Bool, finding: String) {
            self.name = name
            self.isAvailable = isAvailable
            self.finding = finding
        }
    }

    /// The method that the host uses.
    public var groupKill: GroupKill
    /// All layers that the host looked for.
    public var layers: [Layer]
    /// The layers of the sandbox that this machine has; each was tried.
    public var sandbox: Set<SandboxLayer>

    public init(groupKill: GroupKill, layers: [Layer], sandbox: Set<SandboxLayer> = []) {
        self.groupKill = groupKill
        self.layers = layers
        self.sandbox = sandbox
    }

    /// The layers that a manifest counts on and this machine does not have, in the order of
    /// ``SandboxLayer``; if there is any, a launch is less confined than its manifest says.
    public func missing(for declaration: SandboxDeclaration) -> [SandboxLayer] {
        declaration.neededLayers.filter { !sandbox.contains($0) }
    }

    /// What confines the launches of a manifest, as ``LaunchRecord/isolation`` has it: the method of the
    /// group kill, then the layers of the sandbox, such as `cgroup, capabilities, landlock, seccomp`.
    public func words(for declaration: SandboxDeclaration) -> String {
        let applied = SandboxLayer.allCases.filter { layer in
            switch layer {
            case .networkNamespace where declaration.network != nil: false
            case .landlockPorts: declaration.neededLayers.contains(layer) && sandbox.contains(layer)
            default: sandbox.contains(layer)
            }
        }
        return ([groupKill.rawValue] + applied.map(\.rawValue)).joined(separator: ", ")
    }
}
