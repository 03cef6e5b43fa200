public import TaskModel

/// How much a bundle's launches could do to the machine if their code were hostile: a number with its
/// reasons, as `systemd-analyze security` gives it for a service.
///
/// The grade follows from what the manifest grants and from what this machine can enforce. It says nothing
/// about the quality of the code.
public struct SecurityGrade: Equatable, Sendable {
    /// The facts about a bundle and its machine that decide.
    public struct Facts: Equatable, Sendable {
        /// The user of the bundle's tasks.
        public enum User: Equatable, Sendable {
            /// A user of the bundle's own, which only a host that runs as root can give.
            case own
            /// The user of the host, who is not root.
            case hosts
            /// Root, without its capabilities where these were dropped.
            case root
        }

        /// What the manifest grants.
        public var sandbox: SandboxDeclaration
        /// What this machine can enforce.
        public var isolation: IsolationReport
        /// The user of the tasks.
        public var user: User
        /// The grants that open directories of the host.
        public var hostGrants: [HostGrant]

        public init(
            sandbox: SandboxDeclaration, isolation: IsolationReport, user: User, hostGrants: [HostGrant] = []
        ) {
            (self.sandbox, self.isolation, self.user) = (sandbox, isolation, user)
            self.hostGrants = hostGrants
        }
    }

    /// One reason.
    public struct Item: Equatable, Sendable {
        /// The part of the manifest or the layer of isolation, such as `network` or `landlock`.
        public var name: String
        /// What it adds to the exposure, in tenths; 0 means that it protects.
        public var tenths: Int
        /// What was found, as a sentence without a full stop.
        public var finding: String
        /// What would lower the exposure; `nil` if nothing is to be done.
        public var remedy: String?
    }

    /// The grade in one word.
    public enum Word: String, Sendable, Codable, CaseIterable {
        /// Up to 1.5: the launches can reach almost nothing outside their own directories.
        case tight
        /// Up to 4.0: the launches can reach what they were granted.
        case moderate
        /// Up to 7.0: the grants, or a missing layer, leave much within reach.
        case exposed
        /// Above 7.0: the sandbox holds little.
        case open
    }

    /// The exposure in tenths, 0 through 100.
    public let tenths: Int
    /// The reasons: first the grants of the manifest, then the layers of the machine.
    public let items: [Item]
    /// The layers that the manifest counts on and this machine does not have.
    public let missing: [SandboxLayer]

    /// The grade in one word.
    public var word: Word {
        switch tenths {
        case ...15: .tight
        case ...40: .moderate
        case ...70: .exposed
        default: .open
        }
    }

    /// The exposure, such as `2.3`.
    public var exposure: String { Self.text(of: tenths) }

    /// Formats tenths: `2.3` for 23.
    static func text(of tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)" }

    /// Grades a bundle.
    public init(_ facts: Facts) {
        let items = Self.grants(of: facts) + Self.layers(of: facts)
        self.items = items
        tenths = min(100, items.reduce(0) { $0 + $1.tenths })
        missing = facts.isolation.missing(for: facts.sandbox)
    }

    // MARK: Grants

    private static func grants(of facts: Facts) -> [Item] {
        let sandbox = facts.sandbox
        var items = [network(sandbox.network)]
        items += facts.hostGrants.map(item)
        let opened = Set(facts.hostGrants.map { "\($0.isWrite) \($0.path)" })
        for (paths, isWrite) in [(sandbox.read, false), (sandbox.write.map(\.path), true)] {
            let others = paths.filter { !opened.contains("\(isWrite) \($0)") }
            if paths.isEmpty || !others.isEmpty { items += files(others, isWrite: isWrite) }
        }
        items.append(
            sandbox.subprocesses
                ? Item(
                    name: "subprocesses", tenths: 8, finding: "Tasks may start programs",
                    remedy: "Remove 'subprocesses: true' if they start none")
                : Item(name: "subprocesses", tenths: 0, finding: "Tasks can't start programs"))
        for device in sandbox.devices {
            items.append(
                Item(
                    name: "device \(device)", tenths: 5, finding: "Tasks may open it",
                    remedy: "Remove it from 'devices' if they do not use it"))
        }
        if sandbox.gpu == true {
            items.append(
                Item(
                    name: "gpu", tenths: 6,
                    finding: "Tasks may use the GPU, whose driver is a large part of the kernel",
                    remedy: "Remove 'gpu: true' if they do not use it"))
        }
        if !sandbox.environment.isEmpty {
            items.append(
                Item(
                    name: "environment", tenths: 2,
                    finding: "Tasks see \(sandbox.environment.joined(separator: ", ")) of the host",
                    remedy: "Grant no variable that contains a secret"))
        }
        return items
    }

    private static func item(_ grant: HostGrant) -> Item {
        Item(
            name: "\(grant.isWrite ? "write" : "read") \(grant.path)", tenths: grant.isWrite ? 40 : 14,
            finding: grant.isWrite
                ? "Tasks could change \(grant.opens), and so control the host, which refuses their launches"
                : "Tasks may read \(grant.opens)",
            remedy: "Grant another directory; a program that is not a task can copy files from there")
    }

    private static func network(_ grant: NetworkGrant?) -> Item {
        switch grant {
        case nil:
            Item(name: "network", tenths: 0, finding: "Tasks can't use the network")
        case .connect(let ports):
            Item(
                name: "network", tenths: 6,
                finding: "Tasks may connect to TCP port\(ports.count == 1 ? "" : "s") "
                    + ports.map { "\($0)" }.joined(separator: ", ")
                    // The sandbox lets a task that may ask name servers use UDP.
                    + (ports.contains(53) ? ", and use UDP with any port" : ""),
                remedy: "Remove 'network' if they need none")
        case .all:
            Item(
                name: "network", tenths: 14, finding: "Tasks may connect to any port, and accept connections",
                remedy: "Name the ports that they connect to: sandbox: {network: {connect: [443]}}")
        }
    }

    /// Directories with the data of all users, or with the settings of the machine.
    private static let wide: Set<String> = [
        "/", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv",
        "/sys", "/tmp", "/usr", "/var", "~",
    ]

    private static func files(_ paths: [String], isWrite: Bool) -> [Item] {
        let word = isWrite ? "write" : "read"
        if paths.isEmpty {
            return [
                Item(
                    name: word, tenths: 0,
                    finding: isWrite
                        ? "Tasks can't write outside their own directories"
                        : "Tasks can't read files of users or of other bundles")
            ]
        }
        // The first grants weigh most. Ten narrow ones are not as bad as one that is wide.
        return paths.enumerated().map { index, path in
            let plain = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
            if wide.contains(plain) {
                return Item(
                    name: "\(word) \(path)", tenths: isWrite ? 22 : 14,
                    finding: "Tasks may \(word) everything there that their user may",
                    remedy: "Grant only the directories that they need")
            }
            let base = isWrite ? 4 : 2
            if plain.hasPrefix("${") {
                return Item(
                    name: "\(word) \(path)", tenths: isWrite ? 12 : 8,
                    finding: "Each request can choose any path of this machine",
                    remedy: "Grant a directory that all paths are in, such as /srv/\(path)")
            }
            if path.contains("${") {
                return Item(
                    name: "\(word) \(path)", tenths: base + 2, finding: "Each request chooses the path",
                    remedy: "Grant a fixed path if requests always choose the same")
            }
            return Item(
                name: "\(word) \(path)", tenths: index < 4 ? base : 1, finding: "Tasks may \(word) there")
        }
    }

    // MARK: Layers

    private static func layers(of facts: Facts) -> [Item] {
        var items = [user(facts), groupKill(facts)]
        // `user` has its own item.
        for layer in SandboxLayer.allCases where layer != .user {
            if layer == .networkNamespace, facts.sandbox.network != nil { continue }
            if layer == .landlockPorts {
                guard case .connect = facts.sandbox.network else { continue }
            }
            let isNeeded = facts.sandbox.neededLayers.contains(layer)
            if facts.isolation.sandbox.contains(layer) {
                items.append(Item(name: layer.rawValue, tenths: 0, finding: layer.protection))
            } else {
                items.append(
                    Item(
                        name: layer.rawValue, tenths: isNeeded ? layer.weight : 2,
                        finding: "This machine lacks it: \(layer.loss)", remedy: layer.remedy))
            }
        }
        return items
    }

    private static func user(_ facts: Facts) -> Item {
        switch facts.user {
        case .own: Item(name: "user", tenths: 0, finding: "Tasks run as a user of the bundle's own")
        case .hosts:
            // There is no remedy: only root can give its bundles users, and a host should not run as root for
            // that.
            Item(name: "user", tenths: 3, finding: "Tasks run as the user of the host")
        case .root:
            Item(
                name: "user", tenths: facts.isolation.sandbox.contains(.capabilities) ? 8 : 20,
                finding: "Tasks run as root, like the host",
                remedy:
                    "Give each bundle a user of its own ('bgtask doctor' shows what prevents it), or run the "
                    + "host as a user of its own")
        }
    }

    private static func groupKill(_ facts: Facts) -> Item {
        switch facts.isolation.groupKill {
        case .cgroup:
            Item(name: "group kill", tenths: 0, finding: "The kernel ends all processes of a launch at once")
        case .pidNamespace:
            Item(
                name: "group kill", tenths: 1,
                finding: "A PID namespace ends all processes of a launch; their CPU time may be counted low",
                remedy: "Start the host in a cgroup of its own: 'bgtask doctor' shows the command")
        case .noFork:
            Item(
                name: "group kill", tenths: facts.sandbox.subprocesses ? 8 : 2,
                finding:
                    "A filter keeps tasks from starting processes, because nothing ends these for certain",
                remedy: "Start the host in a cgroup of its own: 'bgtask doctor' shows the command")
        }
    }
}

extension SandboxLayer {
    /// What a missing layer adds to the exposure of a bundle that counts on it, in tenths.
    fileprivate var weight: Int {
        switch self {
        case .landlock: 35
        case .seccomp: 25
        case .capabilities: 15
        case .landlockPorts, .landlockScopes: 8
        case .namespaces, .networkNamespace, .user: 2
        }
    }

    fileprivate var protection: String {
        switch self {
        case .namespaces: "Mounts and shared memory of the machine are out of reach"
        case .networkNamespace: "A network of its own has no connections"
        case .user: "A user who owns nothing but the bundle's own directories"
        case .capabilities: "No capabilities, and none by set-id programs"
        case .landlock: "Only the granted files"
        case .landlockPorts: "Only the granted TCP ports"
        case .landlockScopes: "No signals to other processes, and no abstract sockets of theirs"
        case .seccomp: "Only system calls that tasks need"
        }
    }

    fileprivate var loss: String {
        switch self {
        case .namespaces: "tasks see its mounts and shared memory"
        case .networkNamespace: "only the filter of system calls closes the network"
        case .user: "tasks run as the user of the host"
        case .capabilities: "tasks keep the privileges of their user"
        case .landlock: "tasks can open every file that their user may open"
        case .landlockPorts: "tasks can connect to every port"
        case .landlockScopes: "the programs that tasks start can signal processes of the same user"
        case .seccomp: "tasks can use every system call"
        }
    }

    /// How to get the layer on a machine that lacks it.
    public var remedy: String {
        switch self {
        case .namespaces, .networkNamespace:
            "Permit user namespaces: sysctl user.max_user_namespaces=15000, on Ubuntu also "
                + "sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container, give it CAP_SYS_ADMIN"
        case .user: "Run the host as root, with a range of users in 'isolation.users'"
        case .capabilities: "Let the host set no_new_privs: remove the container's rule against prctl"
        case .landlock:
            "Boot Linux 5.13 or newer with the kernel option lsm=landlock,LIST, where LIST is what this prints: "
                + "cat /sys/kernel/security/lsm"
        case .landlockPorts: "Boot Linux 6.7 or newer, or grant 'network: true'"
        case .landlockScopes: "Boot Linux 6.12 or newer, or remove 'subprocesses: true'"
        case .seccomp: "Boot a kernel with CONFIG_SECCOMP_FILTER"
        }
    }
}
