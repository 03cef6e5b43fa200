import LinuxSystem
import TaskModel

/// The cgroups of one host: one for each template, and pooled ones that launches use in turn.
///
/// Making and removing a group costs 88 µs a launch, taking one from the pool nothing (both measured on Linux
/// 6.18). A group in which something was killed is never used again: that kernel kills what is cloned into
/// one (Documentation/RunnerProtocol.md, *Groups*).
struct GroupPool: Sendable {
    /// Holds everything of this host.
    let base: ControlGroup
    private var free: [ControlGroup] = []
    private var discarded: [ControlGroup] = []
    private var made = 0

    /// Empties what an earlier host left, and starts a pool.
    ///
    /// - Throws: The call that failed, or ``LauncherError`` if leftovers do not die.
    init(base: ControlGroup) throws {
        self.base = base
        try Self.empty(base)
    }

    /// An empty group for a launch.
    mutating func acquire() throws(SystemCallError) -> ControlGroup {
        if let group = free.popLast() { return group }
        return try make("launch")
    }

    /// A group for a template.
    mutating func makeForTemplate() throws(SystemCallError) -> ControlGroup {
        try make("template")
    }

    private mutating func make(_ name: String) throws(SystemCallError) -> ControlGroup {
        // What could not be removed when it was given back, because it was not empty yet, can be by now.
        discarded.removeAll { (try? $0.remove()) != nil }
        made += 1
        return try base.child("\(name)-\(made)")
    }

    /// Takes back a group in which nothing was killed; it is empty.
    mutating func release(_ group: ControlGroup) {
        free.append(group)
    }

    /// Removes a group, now or as soon as it is empty.
    mutating func discard(_ group: ControlGroup) {
        if (try? group.remove()) == nil { discarded.append(group) }
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
