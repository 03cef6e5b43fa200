public import TaskModel

/// The launcher is running and holds its lock.
public struct HelloMessage: WireMessage {
    public static let kind: UInt8 = 0x50
    public static let table = FieldTable(.required(1, .u64), .required(2, .u64))
    /// The runner's protocol version.
    public var protocolVersion: UInt64
    /// The launcher's process number.
    public var pid: UInt64

    public init(protocolVersion: UInt64, pid: UInt64) {
        self.protocolVersion = protocolVersion
        self.pid = pid
    }

    public init(_ values: FieldValues) throws(WireError) {
        protocolVersion = values[1]
        pid = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, protocolVersion)
        fields.write(2, pid)
    }
}

/// The launcher created a task; file descriptors come with the frame.
public struct SpawnedMessage: WireMessage {
    public static let kind: UInt8 = 0x51
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .u64), .optional(4, .flag))
    /// The number of descriptors: pidfd, control pipe, report pipe, standard output and standard error, and
    /// the counter if there is one.
    public var descriptorCount: Int { hasCounter ? 6 : 5 }
    /// The number of the launch.
    public var launch: UInt64
    /// The number of the task's process in the launcher's PID namespace; for display only.
    public var pid: UInt64
    /// How many bytes of ``SpawnMessage/start`` the task's control pipe took.
    public var given: UInt64
    /// Whether the last descriptor counts the CPU time of the task and of everything that it starts.
    public var hasCounter: Bool

    public init(launch: UInt64, pid: UInt64, given: UInt64 = 0, hasCounter: Bool = false) {
        self.hasCounter = hasCounter
        self.launch = launch
        self.pid = pid
        self.given = given
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        pid = values[2]
        given = values[3]
        hasCounter = values[4]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, pid)
        fields.write(3, given == 0 ? nil : given)
        fields.write(4, ifTrue: hasCounter)
    }
}

/// A task was reaped, and all other processes of its launch are gone: those in its cgroup or PID namespace.
public struct ExitedMessage: WireMessage {
    public static let kind: UInt8 = 0x52
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .required(3, .u64), .required(4, .u64), .required(5, .u64),
        .required(6, .u64))
    /// The number of the launch.
    public var launch: UInt64
    /// The wait status, as `waitpid` returns it.
    public var waitStatus: UInt64
    /// User time, in microseconds.
    public var userMicroseconds: UInt64
    /// System time, in microseconds.
    public var systemMicroseconds: UInt64
    /// Peak resident memory of the task's process, in bytes.
    public var maximumResident: UInt64
    /// The number of processes that outlived the task; the launcher killed them.
    public var leftovers: UInt64

    public init(
        launch: UInt64, waitStatus: UInt64, userMicroseconds: UInt64, systemMicroseconds: UInt64,
        maximumResident: UInt64, leftovers: UInt64
    ) {
        self.launch = launch
        self.waitStatus = waitStatus
        self.userMicroseconds = userMicroseconds
        self.systemMicroseconds = systemMicroseconds
        self.maximumResident = maximumResident
        self.leftovers = leftovers
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        waitStatus = values[2]
        userMicroseconds = values[3]
        systemMicroseconds = values[4]
        maximumResident = values[5]
        leftovers = values[6]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, waitStatus)
        fields.write(3, userMicroseconds)
        fields.write(4, systemMicroseconds)
        fields.write(5, maximumResident)
        fields.write(6, leftovers)
    }
}

/// The launcher created the process of a template, which now loads its plugin.
public struct TemplateStartedMessage: WireMessage {
    public static let kind: UInt8 = 0x59
    public static let table = FieldTable(.required(1, .u64), .required(2, .u64))
    /// The number of the template.
    public var template: UInt64
    /// The number of its process in the launcher's PID namespace, or of its own namespace's first process;
    /// only for measurements.
    public var pid: UInt64

    public init(template: UInt64, pid: UInt64) {
        self.template = template
        self.pid = pid
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        pid = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, pid)
    }
}

/// A template has loaded its plugin.
public struct TemplateReadyMessage: WireMessage {
    public static let kind: UInt8 = 0x53
    public static let table = FieldTable(.required(1, .u64), .required(2, .flag), .optional(3, .text))
    /// The number of the template.
    public var template: UInt64
    /// Whether the template can be cloned; otherwise, every task gets a new process.
    public var isCloneable: Bool
    /// Why the template cannot be cloned; `nil` if it can.
    public var finding: String?

    public init(template: UInt64, isCloneable: Bool, finding: String? = nil) {
        self.template = template
        self.isCloneable = isCloneable
        self.finding = finding
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        isCloneable = values[2]
        finding = values[3]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, isCloneable)
        fields.write(3, finding)
    }
}

/// A template could not start or load its plugin, or ended unexpectedly, at any time.
public struct TemplateFailedMessage: WireMessage {
    public static let kind: UInt8 = 0x54
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text), .optional(3, .u64), .optional(4, .flag))
    /// The number of the template.
    public var template: UInt64
    /// What failed, such as the error message of the dynamic loader.
    public var finding: String
    /// The wait status, as `waitpid` returns it, if the template's process ended; otherwise `nil`.
    public var waitStatus: UInt64?
    /// Whether the system lacked descriptors, processes, memory or space, so that it may work later.
    public var isShortage: Bool

    public init(
        template: UInt64, finding: String, waitStatus: UInt64? = nil, isShortage: Bool = false
    ) {
        self.template = template
        self.finding = finding
        self.waitStatus = waitStatus
        self.isShortage = isShortage
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        finding = values[2]
        waitStatus = values[3]
        isShortage = values[4]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, finding)
        fields.write(3, waitStatus)
        if isShortage { fields.write(4, true) }
    }
}

/// The launcher could not start a task; no further message about the launch follows.
public struct SpawnFailedMessage: WireMessage {
    public static let kind: UInt8 = 0x55
    public static let table = FieldTable(.required(1, .u64), .required(2, .text), .optional(3, .flag))
    /// The number of the launch.
    public var launch: UInt64
    /// The system call that failed, with its error, or why the launcher refused to start the task.
    public var finding: String
    /// Whether the system lacked descriptors, processes, memory or space, so that it may work later.
    public var isShortage: Bool

    public init(launch: UInt64, finding: String, isShortage: Bool = false) {
        self.launch = launch
        self.finding = finding
        self.isShortage = isShortage
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        finding = values[2]
        isShortage = values[3]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, finding)
        if isShortage { fields.write(3, true) }
    }
}

/// Five seconds after SIGKILL, processes of a launch still exist; *exited* follows when they are gone.
public struct UnkillableMessage: WireMessage {
    public static let kind: UInt8 = 0x56
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the launch.
    public var launch: UInt64

    public init(launch: UInt64) { self.launch = launch }

    public init(_ values: FieldValues) throws(WireError) { launch = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, launch) }
}

/// The answer to ``PrepareMessage``: a standby is ready, or could not be made.
public struct PreparedMessage: WireMessage {
    public static let kind: UInt8 = 0x57
    public static let table = FieldTable(.required(1, .u64), .optional(2, .text))
    /// The number of the template.
    public var template: UInt64
    /// Why no standby could be made; `nil` if one is ready.
    public var finding: String?

    public init(template: UInt64, finding: String? = nil) {
        self.template = template
        self.finding = finding
    }

    public init(_ values: FieldValues) throws(WireError) {
        template = values[1]
        finding = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, finding)
    }
}

/// A call of a launch that the sandbox refused, or that was observed; sent before ``ExitedMessage``.
public struct ObservedMessage: WireMessage {
    public static let kind: UInt8 = 0x58
    public static let table = FieldTable(
        .required(1, .u64), .optional(2, .text), .optional(3, .text), .optional(4, .text),
        .optional(5, .flag), .required(6, .u64))
    /// The number of the launch.
    public var launch: UInt64
    /// The name of the system call; `nil` for all calls for which the launcher's list had no room.
    public var call: String?
    /// What the call was about, such as a path; `nil` if unknown.
    public var subject: String?
    /// How the call uses the subject; `nil` if unknown.
    public var use: ObservedCalls.Use?
    /// Whether the filter refused the call.
    ///
    /// Otherwise, the kernel continued with it, and may have refused it.
    public var isRefused: Bool
    /// How often the call was made.
    public var count: UInt64

    public init(
        launch: UInt64, call: String?, subject: String? = nil, use: ObservedCalls.Use? = nil,
        isRefused: Bool = false, count: UInt64
    ) {
        self.launch = launch
        self.call = call
        self.subject = subject
        self.use = use
        self.isRefused = isRefused
        self.count = count
    }

    public init(_ values: FieldValues) throws(WireError) {
        launch = values[1]
        call = values[2]
        subject = values[3]
        if let word: String = values[4] {
            guard let known = ObservedCalls.Use(rawValue: word) else {
                throw WireError(.range, "the use of a file is unknown")
            }
            use = known
        }
        isRefused = values[5]
        count = values[6]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, call)
        fields.write(3, subject)
        fields.write(4, use?.rawValue)
        fields.write(5, ifTrue: isRefused)
        fields.write(6, count)
    }
}
