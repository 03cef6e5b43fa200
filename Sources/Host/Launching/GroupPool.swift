import LinuxSystem
import TaskModel

/// The cgroups of one host: one for each template, and a pool of groups for launches.
///
/// The pool saves time: to create and remove a group takes 88 µs (measured on Linux 6.18). A group in which a
/// process was killed is not used again, because this kernel kills every process that is later cloned into it
/// (Documentation/RunnerProtocol.md, *Groups*).
///
/// The groups of a bundle with a user of its own have a parent of their own. To clone a task into the group
/// of a launch, the template needs write permission there and in the parent. The pool grants it when it hands
/// out the group, and the caller takes it back with ``close(_:)`` as soon as the task exists. With a
/// permission that lasts, or one for the group of a template, a task could start processes that belong to no
/// launch.
struct GroupPool: Sendable {
    /// The parent group of all groups of this host.
    let base: ControlGroup
    private var lock: ControlGroupLock?
    /// The groups that can be used again, by their parents.
    private var free: [ControlGroup: [ControlGroup]] = [:]
    /// The groups into which users may clone at present, by their parents.
    private var open: [ControlGroup: Set<ControlGroup>] = [:]
    private var discarded: [ControlGroup] = []
    private var made = 0

    /// Removes what an earlier host left in the parent group, and creates an empty pool.
    ///
    /// - Throws: The failed system call's error, or ``LauncherError`` if processes of the earlier host do not
    ///   end.
    init(base: ControlGroup) throws {
        self.base = base
        lock = ControlGroupLock(of: base)
        try Self.empty(base)
    }

    /// The beginning of the names of all hosts' parent groups.
    static let prefix = "bgtask-"

    /// Removes the groups of hosts that were killed and did not start again, such as those of other state
    /// directories.
    ///
    /// A living host holds the lock of its group. A group with processes is left alone: a launcher may still
    /// be ending its tasks.
    static func removeAbandoned(beside base: ControlGroup, in parent: ControlGroup) {
        for group in parent.children() where group != base && !group.isPopulated {
            let name = group.path.split(separator: "/").last ?? ""
            guard name.hasPrefix(prefix), name.count == prefix.count + 16,
                name.dropFirst(prefix.count).allSatisfy(\.isHexDigit),
                let lock = ControlGroupLock(of: group)
            else { continue }
            withExtendedLifetime(lock) {
                Self.removeTree(group)
            }
        }
    }

    /// Takes an empty group for a launch from the pool, or creates one, and permits the user to clone into
    /// it.
    ///
    /// - Parameter user: The user of the bundle; `nil` if it has none.
    /// - Returns: The group.
    /// - Throws: The system call that failed.
    mutating func acquire(for user: UInt32?) throws(SystemCallError) -> ControlGroup {
        // Another process may have removed a group that was empty.
        while let group = free[parent(for: user)]?.popLast() {
            if SmallFile.exists(group.path), (try? admit(user, to: group)) != nil { return group }
        }
        let group = try make("launch", user)
        try admit(user, to: group)
        return group
    }

    private mutating func admit(_ user: UInt32?, to group: ControlGroup) throws(SystemCallError) {
        guard let user else { return }
        let isFirst = open[group.parent] == nil
        open[group.parent, default: []].insert(group)
        do {
            if isFirst { try group.parent.permitMoves(by: user) }
            try group.permitMoves(by: user)
        } catch {
            discard(group)
            throw error
        }
    }

    /// Ends the permission of the user to clone into a group, because its task exists, or none is wanted.
    ///
    /// May be called repeatedly. The kernel refuses only if the group is gone, and then nothing happens.
    mutating func close(_ group: ControlGroup) {
        guard open[group.parent]?.remove(group) != nil else { return }
        try? group.permitMoves(by: 0)
        guard open[group.parent]?.isEmpty == true else { return }
        open[group.parent] = nil
        try? group.parent.permitMoves(by: 0)
    }

    /// Creates a group for a template of a bundle with this user, or without one.
    mutating func makeForTemplate(for user: UInt32?) throws(SystemCallError) -> ControlGroup {
        try make("template", user)
    }

    /// Whether the kernel counts the memory of each group, and enforces its limit.
    var countsMemory: Bool { base.delegatedControllers.contains("memory") }

    /// Whether the kernel limits the processes of each group.
    var limitsProcesses: Bool { base.delegatedControllers.contains("pids") }

    private func parent(for user: UInt32?) -> ControlGroup {
        user.map { ControlGroup(path: "\(base.path)/user-\($0)") } ?? base
    }

    /// How many processes and threads one group may have, where the kernel has the pids controller: 1024.
    ///
    /// Our choice: a build with a compiler for each core of a large machine needs less. It keeps a task that
    /// starts processes without end from taking all numbers of the machine, of which some have 32,768.
    static let processLimit = 1024

    private func create(_ name: String, _ user: UInt32?) throws(SystemCallError) -> ControlGroup {
        let group = try createUnlimited(name, user)
        group.limitProcesses(to: Self.processLimit)
        // Where the kernel kills a process for lack of memory, it kills all of the group. Otherwise, a task
        // would outlive the program that it has started, and report that as its own failure.
        try? SmallFile.write("1", to: group.path + "/memory.oom.group")
        return group
    }

    private func createUnlimited(_ name: String, _ user: UInt32?) throws(SystemCallError) -> ControlGroup {
        guard let user else { return try base.child(name) }
        let parent = parent(for: user)
        if try parent.create() { _ = parent.delegate(IsolationProbe.wantedControllers) }
        return try parent.child(name)
    }

    private mutating func make(_ name: String, _ user: UInt32?) throws(SystemCallError) -> ControlGroup {
        // A group that was not empty when it was discarded may be empty now.
        discarded.removeAll { (try? $0.remove()) != nil }
        made += 1
        let label = "\(name)-\(made)"
        for _ in 1..<Self.attempts {
            do {
                return try create(label, user)
            } catch {
                // Another process may have removed the parent group while it was empty, and may do so again
                // before the lock is in place.
                guard try base.create() else { throw error }
                lock = ControlGroupLock(of: base)
                _ = IsolationProbe.delegate(to: base)
            }
        }
        return try create(label, user)
    }

    /// How often the pool tries to make a group whose parent is being removed: our choice.
    private static let attempts = 4

    /// Returns a group to the pool; it must be empty, and no process in it may have been killed.
    mutating func release(_ group: ControlGroup) {
        close(group)
        free[group.parent, default: []].append(group)
    }

    /// Removes a group now, or later if it is not empty yet.
    mutating func discard(_ group: ControlGroup) {
        close(group)
        if (try? group.remove()) == nil { discarded.append(group) }
    }

    /// Forgets all groups, because their directories were removed.
    ///
    /// Numbers are not used again: a group whose processes do not die yet still has its directory.
    mutating func forgetAll() {
        free = [:]
        open = [:]
        discarded = []
    }

    /// Kills all processes in a parent group and removes its groups; blocks until it is empty.
    ///
    /// - Throws: The failed system call's error, or ``LauncherError`` if processes do not end within 10 s.
    static func empty(_ base: ControlGroup) throws {
        if base.isPopulated { try base.kill() }
        guard base.waitUntilEmpty(timeoutMilliseconds: 10_000) else {
            throw LauncherError(
                code: .leftovers, subject: base.path,
                finding: "processes of an earlier host are still there 10 s after SIGKILL",
                remedy: "Wait until the kernel can end them, or restart the machine. "
                    + "To list their numbers: find \(base.path) -name cgroup.procs -exec cat {} +")
        }
        for group in base.children() { removeTree(group) }
    }

    /// Removes all groups; for the end of the host, when the groups are empty.
    func remove() { Self.removeTree(base) }

    /// Removes a group and those below it, as far as they are empty.
    private static func removeTree(_ group: ControlGroup) {
        for child in group.children() { removeTree(child) }
        try? group.remove()
    }
}
