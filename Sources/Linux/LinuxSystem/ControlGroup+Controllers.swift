/// Controllers of a group: limits and shares that its children can have.
extension ControlGroup {
    /// The controllers that may be handed to its children.
    public var controllers: Set<String> { words("cgroup.controllers") }

    /// The controllers that its children have.
    public var delegatedControllers: Set<String> { words("cgroup.subtree_control") }

    /// Enables controllers for the child groups, if this group has them.
    ///
    /// - Returns: The wanted controllers that are enabled now. The kernel refuses the memory and cpu
    ///   controllers while a process is in this group itself.
    public func delegate(_ wanted: Set<String>) -> Set<String> {
        for controller in wanted.intersection(controllers).subtracting(delegatedControllers).sorted() {
            // One by one: a refusal of one of them does not affect the others.
            try? SmallFile.write("+\(controller)", to: path + "/cgroup.subtree_control")
        }
        return wanted.intersection(delegatedControllers)
    }

    /// Moves a process into it.
    ///
    /// - Throws: The write to `cgroup.procs`.
    public func take(_ process: Int32) throws(SystemCallError) {
        try SmallFile.write("\(process)", to: path + "/cgroup.procs")
    }

    private func words(_ file: String) -> Set<String> {
        let text = (try? SmallFile.read(path + "/" + file)) ?? ""
        return Set(text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init))
    }

    /// What the memory controller counted in it; `nil` where that is not delegated.
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

/// What the memory controller counted in a group since the group was made.
public struct MemoryEvents: Equatable, Sendable {
    /// How often its use was about to pass `memory.max`.
    public var limitHits: Int64 = 0
    /// Its processes that the kernel killed for want of memory.
    public var kills: Int64 = 0
    /// The most that it ever used; `nil` before Linux 5.19.
    public var peakBytes: Int64?

    /// Nothing happened yet.
    public init() {}
}
