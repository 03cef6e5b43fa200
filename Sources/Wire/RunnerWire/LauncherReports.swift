/// The launcher is up and holds its lock.
public struct HelloMessage: WireMessage {
    /// 0x50.
    public static let kind: UInt8 = 0x50
    /// The runner's protocol version.
    public var protocolVersion: UInt64
    /// The launcher's process number.
    public var pid: UInt64

    /// Makes a message.
    public init(protocolVersion: UInt64, pid: UInt64) {
        self.protocolVersion = protocolVersion
        self.pid = pid
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        (protocolVersion, pid) = try twoNumbers(fields, of: Self.kind)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, protocolVersion)
        fields.write(2, pid)
    }
}

/// A task exists; its five descriptors come with the frame.
public struct SpawnedMessage: WireMessage {
    /// 0x51.
    public static let kind: UInt8 = 0x51
    /// How many descriptors come: pidfd, control, report, stdout, stderr.
    public static let descriptorCount = 5
    /// The launch.
    public var launch: UInt64
    /// The launcher's name for its process; for display only.
    public var pid: UInt64
    /// How many bytes of ``SpawnMessage/start`` the task's control pipe has taken.
    public var given: UInt64

    /// Makes a message.
    public init(launch: UInt64, pid: UInt64, given: UInt64 = 0) {
        self.launch = launch
        self.pid = pid
        self.given = given
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var launch: UInt64?, pid: UInt64?, given: UInt64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &launch)
            case 2: try field.read(into: &pid)
            case 3: try field.read(into: &given)
            default: continue
            }
        }
        self.init(
            launch: try required(launch, 1, of: Self.kind), pid: try required(pid, 2, of: Self.kind),
            given: given ?? 0)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, pid)
        fields.write(3, given == 0 ? nil : given)
    }
}

/// A task has been reaped and its group is empty.
public struct ExitedMessage: WireMessage {
    /// 0x52.
    public static let kind: UInt8 = 0x52
    /// The launch.
    public var launch: UInt64
    /// As `waitpid` gives it.
    public var waitStatus: UInt64
    /// User time, in microseconds.
    public var userMicroseconds: UInt64
    /// System time, in microseconds.
    public var systemMicroseconds: UInt64
    /// Peak resident memory of the task's process, in bytes.
    public var maximumResident: UInt64
    /// Processes that outlived the task and were killed.
    public var leftovers: UInt64

    /// Makes a message.
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

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var launch: UInt64?, status: UInt64?, user: UInt64?, system: UInt64?, resident: UInt64?,
            leftovers: UInt64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &launch)
            case 2: try field.read(into: &status)
            case 3: try field.read(into: &user)
            case 4: try field.read(into: &system)
            case 5: try field.read(into: &resident)
            case 6: try field.read(into: &leftovers)
            default: continue
            }
        }
        self.init(
            launch: try required(launch, 1, of: Self.kind),
            waitStatus: try required(status, 2, of: Self.kind),
            userMicroseconds: try required(user, 3, of: Self.kind),
            systemMicroseconds: try required(system, 4, of: Self.kind),
            maximumResident: try required(resident, 5, of: Self.kind),
            leftovers: try required(leftovers, 6, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, waitStatus)
        fields.write(3, userMicroseconds)
        fields.write(4, systemMicroseconds)
        fields.write(5, maximumResident)
        fields.write(6, leftovers)
    }
}

/// A template has its plugin loaded.
public struct TemplateReadyMessage: WireMessage {
    /// 0x53.
    public static let kind: UInt8 = 0x53
    /// The template.
    public var template: UInt64
    /// Whether tasks may be cloned from it.
    public var isCloneable: Bool
    /// Why not.
    public var finding: String?

    /// Makes a message.
    public init(template: UInt64, isCloneable: Bool, finding: String? = nil) {
        self.template = template
        self.isCloneable = isCloneable
        self.finding = finding
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var template: UInt64?, cloneable: Bool?, finding: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &template)
            case 2: try field.read(into: &cloneable)
            case 3: try field.read(into: &finding)
            default: continue
            }
        }
        self.init(
            template: try required(template, 1, of: Self.kind),
            isCloneable: try required(cloneable, 2, of: Self.kind), finding: finding)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, isCloneable)
        fields.write(3, finding)
    }
}

/// A template could not load its plugin, or died while it did.
public struct TemplateFailedMessage: WireMessage {
    /// 0x54.
    public static let kind: UInt8 = 0x54
    /// The template.
    public var template: UInt64
    /// The loader's text.
    public var finding: String
    /// As `waitpid` gives it, where it crashed or was killed.
    public var waitStatus: UInt64?

    /// Makes a message.
    public init(template: UInt64, finding: String, waitStatus: UInt64? = nil) {
        self.template = template
        self.finding = finding
        self.waitStatus = waitStatus
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var template: UInt64?, finding: String?, status: UInt64?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &template)
            case 2: try field.read(into: &finding)
            case 3: try field.read(into: &status)
            default: continue
            }
        }
        self.init(
            template: try required(template, 1, of: Self.kind),
            finding: try required(finding, 2, of: Self.kind),
            waitStatus: status)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, finding)
        fields.write(3, waitStatus)
    }
}

/// A task could not be started; nothing follows for that launch.
public struct SpawnFailedMessage: WireMessage {
    /// 0x55.
    public static let kind: UInt8 = 0x55
    /// The launch.
    public var launch: UInt64
    /// The call and its errno.
    public var finding: String

    /// Makes a message.
    public init(launch: UInt64, finding: String) {
        self.launch = launch
        self.finding = finding
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var launch: UInt64?, finding: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &launch)
            case 2: try field.read(into: &finding)
            default: continue
            }
        }
        self.init(
            launch: try required(launch, 1, of: Self.kind), finding: try required(finding, 2, of: Self.kind))
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, launch)
        fields.write(2, finding)
    }
}

/// Five seconds after SIGKILL a launch's processes are still there; *exited* follows when they go.
public struct UnkillableMessage: WireMessage {
    /// 0x56.
    public static let kind: UInt8 = 0x56
    /// The launch.
    public var launch: UInt64

    /// Makes a message.
    public init(launch: UInt64) { self.launch = launch }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) { launch = try oneNumber(fields, of: Self.kind) }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) { fields.write(1, launch) }
}

/// A standby waits, or there is none.
public struct PreparedMessage: WireMessage {
    /// 0x57.
    public static let kind: UInt8 = 0x57
    /// The template.
    public var template: UInt64
    /// Why there is none; `nil` if there is one.
    public var finding: String?

    /// Makes a message.
    public init(template: UInt64, finding: String? = nil) {
        self.template = template
        self.finding = finding
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var template: UInt64?, finding: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &template)
            case 2: try field.read(into: &finding)
            default: continue
            }
        }
        self.init(template: try required(template, 1, of: Self.kind), finding: finding)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, template)
        fields.write(2, finding)
    }
}

/// The u64 fields, tags 1 and 2, of a body.
func twoNumbers(_ fields: FieldReader, of kind: UInt8) throws(WireError) -> (UInt64, UInt64) {
    var fields = fields
    var first: UInt64?, second: UInt64?
    while let field = try fields.next() {
        switch field.tag {
        case 1: try field.read(into: &first)
        case 2: try field.read(into: &second)
        default: continue
        }
    }
    return (try required(first, 1, of: kind), try required(second, 2, of: kind))
}
