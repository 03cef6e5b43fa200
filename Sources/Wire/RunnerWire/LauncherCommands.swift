public import TaskModel

/// The host asks for a template: a process that holds one plugin loaded.
public struct TemplateMessage: WireMessage {
    public static let kind: UInt8 = 0x40
    public static let table = FieldTable(
        .required(1, .u64), .optional(2, .text), .required(3, .text), .repeated(4, .text),
        .repeated(5, .bytes), .required(6, .text), .optional(7, .text), .optional(8, .i64),
        .optional(9, .text))
    /// Names it from now on.
    public var template: UInt64
    /// Absolute real path; `nil` for a `call:` task that loads its own.
    public var library: String?
    /// The working directory, which exists.
    public var directory: String
    /// `NAME=value`, all of it.
    public var environment: [String]
    /// Resource limits.
    public var limits: [ResourceLimit]
    /// What kills its tasks' descendants.
    public var isolation: GroupKill
    /// The template's own group, which exists.
    public var cgroup: String?
    /// Scheduling niceness.
    public var niceness: Int64?
    /// The program that it is executed from, absolute; `nil` is the launcher's own file.
    ///
    /// A copy or hard link of the runner: `Bundle.main` of a plugin is where its process's program lies.
    public var executable: String?

    /// One `setrlimit`.
    public struct ResourceLimit: Sendable, Equatable {
        /// The kernel's number of the resource.
        public var resource: UInt64
        /// Soft limit.
        public var soft: UInt64
        /// Hard limit.
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
    }
}

/// The host asks for a task.
public struct SpawnMessage: WireMessage {
    public static let kind: UInt8 = 0x41
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .text), .optional(4, .flag),
        .optional(5, .flag), .optional(6, .u64), .optional(7, .bytes))
    /// Names it from now on.
    public var launch: UInt64
    /// What it is cloned from.
    public var template: UInt64
    /// The group it starts in, which exists and is empty.
    public var cgroup: String?
    /// Whether it may start processes.
    public var subprocesses: Bool
    /// Whether it gets a process of its own instead of a clone.
    public var fresh: Bool
    /// Memory limit in bytes.
    public var memory: UInt64?
    /// The first bytes of its control channel, from *launch* on: they are in the pipe before the task is.
    ///
    /// ``SpawnedMessage/given`` says how many the pipe took; the host sends the rest, and all if these are
    /// absent.
    public var start: [UInt8]?

    /// The most bytes of ``start`` that leave room for the other fields in every frame.
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

/// The host kills a launch and everything that it started.
public struct KillMessage: WireMessage {
    public static let kind: UInt8 = 0x42
    public static let table = FieldTable(.required(1, .u64))
    /// The launch.
    public var launch: UInt64

    public init(launch: UInt64) { self.launch = launch }

    public init(_ values: FieldValues) throws(WireError) { launch = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, launch) }
}

/// The host needs a template no more; its running tasks go on.
public struct RetireMessage: WireMessage {
    public static let kind: UInt8 = 0x43
    public static let table = FieldTable(.required(1, .u64))
    /// The template.
    public var template: UInt64

    public init(template: UInt64) { self.template = template }

    public init(_ values: FieldValues) throws(WireError) { template = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The host kills a template that did not load in time.
public struct KillTemplateMessage: WireMessage {
    public static let kind: UInt8 = 0x44
    public static let table = FieldTable(.required(1, .u64))
    /// The template.
    public var template: UInt64

    public init(template: UInt64) { self.template = template }

    public init(_ values: FieldValues) throws(WireError) { template = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The host asks for a task before its launch is known: a standby of a template, one at most.
///
/// ``PreparedMessage`` answers, unless the template ends.
public struct PrepareMessage: WireMessage {
    public static let kind: UInt8 = 0x45
    public static let table = FieldTable(.required(1, .u64), .required(2, .text), .optional(3, .flag))
    /// What it is cloned from.
    public var template: UInt64
    /// The group it starts in, which exists and is empty; a spawn that names it takes the standby.
    public var cgroup: String
    /// Whether it may start processes.
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
