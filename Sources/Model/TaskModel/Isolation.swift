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
        /// The layer's name: `cgroup v2`, `pid namespace` or `seccomp`.
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

    public init(groupKill: GroupKill, layers: [Layer]) {
        self.groupKill = groupKill
        self.layers = layers
    }
}
