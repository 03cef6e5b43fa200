/// What guarantees that nothing of a launch survives its kill; the strongest that the machine grants is used.
public enum GroupKill: String, Sendable, Codable, CaseIterable {
    /// A cgroup v2 group of its own, killed by `cgroup.kill`.
    case cgroup
    /// A PID namespace of its own, killed with its init.
    case pidNamespace
    /// A filter under which it cannot start processes.
    case noFork
}

/// Which of the machine's isolation layers the host found, for `bgtask doctor` and each launch's record.
public struct IsolationReport: Equatable, Sendable {
    /// One layer.
    public struct Layer: Equatable, Sendable {
        /// Its name: `cgroup v2`, `pid namespace`, `seccomp`.
        public var name: String
        /// Whether it is there.
        public var isAvailable: Bool
        /// Where, or why not and what to do.
        public var finding: String

        public init(name: String, isAvailable: Bool, finding: String) {
            self.name = name
            self.isAvailable = isAvailable
            self.finding = finding
        }
    }

    /// What is used.
    public var groupKill: GroupKill
    /// Everything that was probed.
    public var layers: [Layer]

    public init(groupKill: GroupKill, layers: [Layer]) {
        self.groupKill = groupKill
        self.layers = layers
    }
}
