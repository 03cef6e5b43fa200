public import TaskModel

/// The launcher must make a template: a process that has one plugin loaded.
public struct TemplateMessage: WireMessage {
    public static let kind: UInt8 = 0x40
    public static let table = FieldTable(
        .required(1, .u64), .optional(2, .text), .required(3, .text), .repeated(4, .text),
        .repeated(5, .bytes), .required(6, .text), .optional(7, .text), .optional(8, .i64),
        .optional(9, .text), .optional(10, .flag), .optional(11, .flag), .repeated(12, .text),
        .repeated(13, .text), .repeated(14, .text), .repeated(15, .text), .optional(16, .text),
        .optional(17, .bytes), .optional(18, .flag), .optional(19, .text), .optional(20, .u64),
        .optional(21, .flag))
    /// The number by which later messages refer to the template.
    public var template: UInt64
    /// The absolute real path of the library; `nil` for a `call:`, which loads libraries itself.
    public var library: String?
    /// The working directory, which already exists.
    public var directory: String
    /// The complete environment, as `NAME=value`.
    public var environment: [String]
    /// The resource limits to set.
    public var limits: [ResourceLimit]
    /// How the processes of its tasks are killed.
    public var isolation: GroupKill
    /// The path of the template's own control group, which already exists; `nil` if there is none.
    public var cgroup: String?
    /// The nice value of the template and its tasks; `nil` keeps the launcher's.
    public var niceness: Int64?
    /// The absolute path of the program that the template executes; `nil` selects the launcher's own file.
    ///
    /// It is a copy of the runner or a hard link to it. `Bundle.main` of a plugin is the directory that
    /// contains this program.
    public var executable: String?
    /// Whether the kernel schedules the template's tasks as batch work (`SCHED_BATCH`).
    public var isBatch = false
    /// Whether the disk serves the template's tasks only while no other process uses it.
    public var isIdleIO = false
    /// The layers of the sandbox to apply before any code of the plugin runs; without them, the fields below
    /// have no effect.
    public var sandbox: Set<SandboxLayer> = []
    /// The paths that the tasks may read, without symbolic links.
    public var read: [String] = []
    /// The paths to which the tasks may write, without symbolic links.
    public var write: [String] = []
    /// The device files that the tasks may open for reading and writing.
    public var devices: [String] = []
    /// The network that the tasks may use; `nil` for none.
    public var network: NetworkGrant?
    /// Whether the tasks may start processes.
    public var subprocesses = false
    /// Which calls the launcher records; `nil` for none.
    public var observation: CallObservation?
    /// The number of the user and group of the tasks, for the layer ``SandboxLayer/user``; never 0.
    public var user: UInt32?
    /// Whether memory that the host can't count is refused, because no kernel counts it for the host.
    public var withoutSharedMemory = false

    /// The arguments of one `setrlimit` call.
    public struct ResourceLimit: Sendable, Equatable {
        /// The kernel's number of the resource (`RLIMIT_...`).
        public var resource: UInt64
        /// The soft limit, in the unit of the resource.
        public var soft: UInt64
        /// The hard limit, in the unit of the resource.
        public var hard: UInt64

        public init(resource: UInt64, soft: UInt64, hard: UInt64) {
            self.resource = resource
            self.soft = soft
            self.hard = hard
        }

        init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
            guard bytes.count == 24 else {
                throw WireError(.fieldLength, "a resource limit has \(bytes.count) bytes, not 24")
            }
            func number(_ index: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            }
            self.init(resource: number(0), soft: number(1), hard: number(2))
        }

        var bytes: [UInt8] {
            [resource, soft, hard].flatMap { number in withUnsafeBytes(of: number.littleEndian, Array.init) }
        }
    }

    public init(template: UInt64, library: String?, directory: String, isolation: GroupKill) {
        self.template = template
        self.library = library
        self.directory = directory
        self.isolation = isolation
        environment = []
        limits = []
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        library = values[2]
        directory = values[3]
        environment = values.texts(4)
        limits = []
        for bytes in values.each(5) { limits.append(try ResourceLimit(bytes)) }
        guard let isolation = GroupKill(rawValue: values[6]) else {
            throw WireError(.range, "the isolation is unknown")
        }
        self.isolation = isolation
        cgroup = values[7]
        niceness = values[8]
        executable = values[9]
        isBatch = values[10]
        isIdleIO = values[11]
        for word in values.texts(12) {
            guard let layer = SandboxLayer(rawValue: word) else {
                throw WireError(.range, "the sandbox layer is unknown")
            }
            sandbox.insert(layer)
        }
        read = values.texts(13)
        write = values.texts(14)
        devices = values.texts(15)
        network = try Self.network(values[16], ports: values[17] ?? [])
        subprocesses = values[18]
        if let word: String = values[19] {
            guard let known = CallObservation(rawValue: word) else {
                throw WireError(.range, "the observation of calls is unknown")
            }
            observation = known
        }
        if let number: UInt64 = values[20] {
            guard number > 0, let user = UInt32(exactly: number) else {
                throw WireError(.range, "the user is root, or is no number of 32 bits")
            }
            self.user = user
        }
        withoutSharedMemory = values[21]
    }

    private static func network(_ word: String?, ports: [UInt8]) throws(WireError) -> NetworkGrant? {
        switch word {
        case nil: return nil
        case "all": return .all
        case "connect" where ports.count.isMultiple(of: 2):
            return .connect(
                ports: stride(from: 0, to: ports.count, by: 2).map {
                    UInt16(ports[$0]) | UInt16(ports[$0 + 1]) << 8
                })
        default: throw WireError(.range, "the network grant is unknown, or its ports are not 2 bytes each")
        }
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, library)
        fields.write(3, directory)
        for variable in environment { fields.write(4, variable) }
        for limit in limits { fields.write(5, limit.bytes) }
        fields.write(6, isolation.rawValue)
        fields.write(7, cgroup)
        fields.write(8, niceness)
        fields.write(9, executable)
        if isBatch { fields.write(10, isBatch) }
        if isIdleIO { fields.write(11, isIdleIO) }
        for layer in SandboxLayer.allCases where sandbox.contains(layer) { fields.write(12, layer.rawValue) }
        for path in read { fields.write(13, path) }
        for path in write { fields.write(14, path) }
        for path in devices { fields.write(15, path) }
        switch network {
        case nil: break
        case .all: fields.write(16, "all")
        case .connect(let ports):
            fields.write(16, "connect")
            fields.write(17, ports.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        }
        fields.write(18, ifTrue: subprocesses)
        fields.write(19, observation?.rawValue)
        fields.write(20, user.map(UInt64.init))
        fields.write(21, ifTrue: withoutSharedMemory)
    }
}

/// The launcher must start a task.
public struct SpawnMessage: WireMessage {
    public static let kind: UInt8 = 0x41
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .text), .optional(4, .flag),
        .optional(5, .flag), .optional(6, .u64), .optional(7, .bytes))
    /// The number by which later messages refer to the launch.
    public var launch: UInt64
    /// The number of the template to clone.
    public var template: UInt64
    /// The path of the task's control group, which exists; `nil` if there is none.
    ///
    /// The group is empty, or it is that of the template's standby, which then becomes the task.
    public var cgroup: String?
    /// Whether the task may start processes.
    public var subprocesses: Bool
    /// Whether the task gets a new process instead of a clone of the template.
    public var fresh: Bool
    /// The memory limit in bytes; `nil` means that there is none.
    public var memory: UInt64?
    /// The first bytes of the task's control channel, beginning with the *launch* frame.
    ///
    /// The launcher writes them to the pipe before the task exists. ``SpawnedMessage/given`` says how many
    /// bytes the pipe took, and the host sends the rest. If this is `nil`, the host sends all bytes.
    public var start: [UInt8]?

    /// The largest number of bytes in ``start``; every frame then still has room for the other fields.
    public static let maximumStart = 32_768

    public init(
        launch: UInt64, template: UInt64, cgroup: String?, subprocesses: Bool, fresh: Bool, memory: UInt64?,
        start: [UInt8]? = nil
    ) {
        self.launch = launch
        self.template = template
        self.cgroup = cgroup
        self.subprocesses = subprocesses
        self.fresh = fresh
        self.memory = memory
        self.start = start
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        template = values[2]
        cgroup = values[3]
        subprocesses = values[4]
        fresh = values[5]
        memory = values[6]
        start = values[7]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, template)
        fields.write(3, cgroup)
        fields.write(4, ifTrue: subprocesses)
        fields.write(5, ifTrue: fresh)
        fields.write(6, memory)
        fields.write(7, start)
    }
}

/// The launcher must kill a launch, with all processes that it started.
public struct KillMessage: WireMessage {
    public static let kind: UInt8 = 0x42
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the launch.
    public var launch: UInt64

    public init(launch: UInt64) { self.launch = launch }

    public init(_ values: FieldValues) throws(WireError) { launch = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, launch) }
}

/// The host does not need a template any more; the template's running tasks continue.
public struct RetireMessage: WireMessage {
    public static let kind: UInt8 = 0x43
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the template.
    public var template: UInt64

    public init(template: UInt64) { self.template = template }

    public init(_ values: FieldValues) throws(WireError) { template = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The launcher must kill a template that did not load in time.
public struct KillTemplateMessage: WireMessage {
    public static let kind: UInt8 = 0x44
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the template.
    public var template: UInt64

    public init(template: UInt64) { self.template = template }

    public init(_ values: FieldValues) throws(WireError) { template = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The launcher must make a standby of a template: a task that is cloned before its launch is known.
///
/// A template has at most one standby. The launcher answers with ``PreparedMessage``, unless the template
/// ends.
public struct PrepareMessage: WireMessage {
    public static let kind: UInt8 = 0x45
    public static let table = FieldTable(.required(1, .u64), .required(2, .text), .optional(3, .flag))
    /// The number of the template to clone.
    public var template: UInt64
    /// The path of the control group in which the standby starts, which exists and is empty.
    ///
    /// A later ``SpawnMessage`` with this group uses the standby.
    public var cgroup: String
    /// Whether the task may start processes.
    public var subprocesses: Bool

    public init(template: UInt64, cgroup: String, subprocesses: Bool) {
        self.template = template
        self.cgroup = cgroup
        self.subprocesses = subprocesses
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        cgroup = values[2]
        subprocesses = values[3]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, cgroup)
        fields.write(3, ifTrue: subprocesses)
    }
}
