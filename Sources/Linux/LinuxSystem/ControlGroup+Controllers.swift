import Glibc

/// The controllers of a group, which limit its children and divide resources between them.
extension ControlGroup {
    /// The controllers that this group can enable for its children.
    public var controllers: Set<String> { words("cgroup.controllers") }

    /// Whether this is the root of all groups, which may contain processes beside groups with controllers.
    public var isRoot: Bool { !SmallFile.exists(path + "/cgroup.type") }

    /// The controllers that are enabled for the children.
    public var delegatedControllers: Set<String> { words("cgroup.subtree_control") }

    /// Enables controllers for the children, if this group has them.
    ///
    /// - Returns: The wanted controllers that are enabled now. The kernel refuses the memory and cpu
    ///   controllers while a process is in this group itself.
    public func delegate(_ wanted: Set<String>) -> Set<String> {
        for controller in wanted.intersection(controllers).subtracting(delegatedControllers).sorted() {
            // Each controller is enabled alone, because the kernel refuses a whole list if it refuses one.
            try? SmallFile.write("+\(controller)", to: path + "/cgroup.subtree_control")
        }
        return wanted.intersection(delegatedControllers)
    }

    /// Moves a process into this group.
    ///
    /// - Throws: The write to `cgroup.procs` that failed.
    public func take(_ process: Int32) throws(SystemCallError) {
        try SmallFile.write("\(process)", to: path + "/cgroup.procs")
    }

    /// Limits the number of processes and threads in this group; without the pids controller, nothing
    /// happens.
    public func limitProcesses(to count: Int) {
        try? SmallFile.write("\(count)", to: path + "/pids.max")
    }

    /// Limits the memory of this group; without the memory controller, nothing happens.
    public func limitMemory(to bytes: Int64) {
        try? SmallFile.write("\(bytes)", to: path + "/memory.max")
    }

    /// Lets only this user, and root, put processes into this group.
    ///
    /// The user must also be permitted to do so in the nearest group that contains this one and the one from
    /// which the processes come.
    ///
    /// - Throws: The `chown` that failed.
    public func permitMoves(by user: UInt32) throws(SystemCallError) {
        let file = path + "/cgroup.procs"
        try retryingOnInterrupt("chown", file) { lchown(file, user, user) }
    }

    private func words(_ file: String) -> Set<String> {
        let text = (try? SmallFile.read(path + "/" + file)) ?? ""
        return Set(text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init))
    }

    /// The counters of the memory controller; `nil` if this group does not have the controller.
    public var memoryEvents: MemoryEvents? {
        guard let text = try? SmallFile.read(path + "/memory.events") else { return nil }
        var events = MemoryEvents()
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 2, let count = Int64(fields[1]) else { continue }
            if fields[0] == "max" { events.limitHits = count }
            if fields[0] == "oom_kill" { events.kills = count }
        }
        events.peakBytes = (try? SmallFile.read(path + "/memory.peak"))?.split(separator: "\n").first
            .flatMap { Int64($0) }
        return events
    }
}

/// The counters of a group's memory controller since the group was created.
public struct MemoryEvents: Equatable, Sendable {
    /// How often the group's memory use reached `memory.max`.
    public var limitHits: Int64 = 0
    /// How many of its processes the kernel killed because memory was short.
    public var kills: Int64 = 0
    /// The largest memory use so far, in bytes; `nil` before Linux 5.19.
    public var peakBytes: Int64?

    /// Creates counters that are 0.
    public init() {}
}
