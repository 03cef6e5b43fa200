public import TaskModel

/// The host asks for a template: a process that holds one plugin loaded.
public struct TemplateMessage: WireMessage {
    /// 0x40.
    public static let kind: UInt8 = 0x40
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

        /// Makes a limit.
        public init(resource: UInt64, soft: UInt64, hard: UInt64) {
            self.resource = resource
            self.soft = soft
            self.hard = hard
        }

        var bytes: [UInt8] {
            [resource, soft, hard].flatMap { number in withUnsafeBytes(of: number.littleEndian, Array.init) }
        }
    }

    /// Makes a message.
    public init(template: UInt64, library: String?, directory: String, isolation: GroupKill) {
        self.template = template
        self.library = library
        self.directory = directory
        self.isolation = isolation
        environment = []
        limits = []
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var template: UInt64?, library: String?, directory: String?, isolation: String?, cgroup: String?
        var niceness: Int64?, executable: String?
        var environment: [String] = [], limits: [ResourceLimit] = []
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &template)
            case 2: try field.read(into: &library)
            case 3: try field.read(into: &directory)
            case 4: environment.append(try field.text())
            case 5: limits.append(try Self.limit(field))
            case 6: try field.read(into: &isolation)
            case 7: try field.read(into: &cgroup)
            case 8: try field.read(into: &niceness)
            case 9: try field.read(into: &executable)
            default: continue
            }
        }
        guard let groupKill = GroupKill(rawValue: try required(isolation, 6, of: Self.kind)) else {
            throw WireError(.range, "there is no such isolation")
        }
        self.init(
            template: try required(template, 1, of: Self.kind), library: library,
            directory: try required(directory, 3, of: Self.kind), isolation: groupKill)
        self.environment = environment
        self.limits = limits
        self.cgroup = cgroup
        self.niceness = niceness
        self.executable = executable
    }

    private static func limit(_ field: FieldReader.Field) throws(WireError) -> ResourceLimit {
        guard field.value.count == 24 else {
            throw WireError(.fieldLength, "a resource limit has \(field.value.count) bytes, not 24")
        }
        func number(_ index: Int) -> UInt64 {
            UInt64(littleEndian: field.value.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return ResourceLimit(resource: number(0), soft: number(1), hard: number(2))
    }

    /// Writes a body.
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
    /// 0x41.
    public static let kind: UInt8 = 0x41
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
    /// ``SpawnedMessage/given`` says how many the pipe took; the host sends the rest, and all if these are absent.
    public var start: [UInt8]?

    /// The most bytes of ``start`` that leave room for the other fields in every frame.
    public static let maximumStart = 32_768

    /// Makes a message.
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

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var launch: UInt64?, template: UInt64?, cgroup: String?, subprocesses: Bool?, fresh: Bool?,
            memory: UInt64?, start: [UInt8]?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &launch)
            case 2: try field.read(into: &template)
            case 3: try field.read(into: &cgroup)
            case 4: try field.read(into: &subprocesses)
            case 5: try field.read(into: &fresh)
            case 6: try field.read(into: &memory)
            case 7: try field.read(into: &start)
            default: continue
            }
        }
        self.init(
            launch: try required(launch, 1, of: Self.kind),
            template: try required(template, 2, of: Self.kind),
            cgroup: cgroup, subprocesses: subprocesses ?? false, fresh: fresh ?? false, memory: memory,
            start: start)
    }

    /// Writes a body.
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
    /// 0x42.
    public static let kind: UInt8 = 0x42
    /// The launch.
    public var launch: UInt64

    /// Makes a message.
    public init(launch: UInt64) { self.launch = launch }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { launch = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, launch) }
}

/// The host needs a template no more; its running tasks go on.
public struct RetireMessage: WireMessage {
    /// 0x43.
    public static let kind: UInt8 = 0x43
    /// The template.
    public var template: UInt64

    /// Makes a message.
    public init(template: UInt64) { self.template = template }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { template = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The host kills a template that did not load in time.
public struct KillTemplateMessage: WireMessage {
    /// 0x44.
    public static let kind: UInt8 = 0x44
    /// The template.
    public var template: UInt64

    /// Makes a message.
    public init(template: UInt64) { self.template = template }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { template = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, template) }
}

/// The host asks for a task before its launch is known: a standby of a template, one at most.
///
/// ``PreparedMessage`` answers, unless the template ends.
public struct PrepareMessage: WireMessage {
    /// 0x45.
    public static let kind: UInt8 = 0x45
    /// What it is cloned from.
    public var template: UInt64
    /// The group it starts in, which exists and is empty; a spawn that names it takes the standby.
    public var cgroup: String
    /// Whether it may start processes.
    public var subprocesses: Bool

    /// Makes a message.
    public init(template: UInt64, cgroup: String, subprocesses: Bool) {
        self.template = template
        self.cgroup = cgroup
        self.subprocesses = subprocesses
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var template: UInt64?, cgroup: String?, subprocesses: Bool?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &template)
            case 2: try field.read(into: &cgroup)
            case 3: try field.read(into: &subprocesses)
            default: continue
            }
        }
        self.init(
            template: try required(template, 1, of: Self.kind),
            cgroup: try required(cgroup, 2, of: Self.kind),
            subprocesses: subprocesses ?? false)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, cgroup)
        fields.write(3, ifTrue: subprocesses)
    }
}
