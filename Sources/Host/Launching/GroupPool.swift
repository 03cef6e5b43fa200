import LinuxSystem
import TaskModel

/// The cgroups of one host: one for its templates, and pooled ones that launches use in turn.
///
/// Making and removing a group costs 88 µs a launch, taking one from the pool nothing
/// (Documentation/Performance.md).
struct GroupPool: Sendable {
    /// Holds everything of this host.
    let base: ControlGroup
    /// The templates' group.
    let templates: ControlGroup
    private var free: [ControlGroup] = []
    private var made = 0

    /// Empties what an earlier host left, and starts a pool.
    ///
    /// - Throws: The call that failed, or ``LauncherError`` if leftovers do not die.
    init(base: ControlGroup) throws {
        self.base = base
        try Self.empty(base)
        templates = try base.child("templates")
    }

    /// An empty group for a launch.
    mutating func acquire() throws(SystemCallError) -> ControlGroup {
        if let group = free.popLast() { return group }
        made += 1
        return try base.child("launch-\(made)")
    }

    /// Takes a group back; it is empty.
    mutating func release(_ group: ControlGroup) {
        free.append(group)
    }

    /// Kills everything in a base and removes the groups inside; blocks until it is empty.
    ///
    /// - Throws: The call that failed, or ``LauncherError`` if something does not die within 10 s.
    static func empty(_ base: ControlGroup) throws {
        if base.isPopulated { try base.kill() }
        guard base.waitUntilEmpty(timeoutMilliseconds: 10_000) else {
            throw LauncherError(
                code: .leftovers, subject: base.path,
                finding: "processes of an earlier host are still there 10 s after SIGKILL",
                remedy: "See which: cat \(base.path)/*/cgroup.procs; they hang in the kernel")
        }
        for group in base.children() { try? group.remove() }
    }

    /// Removes all groups; for the host's end, when they are empty.
    func remove() {
        for group in base.children() { try? group.remove() }
        try? base.remove()
    }
}
