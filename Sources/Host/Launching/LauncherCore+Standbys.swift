import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// What a group has used before a launch is in it.
struct GroupCount {
    /// Reads the group's CPU time.
    let clock: ControlGroupClock
    /// CPU time.
    let usage: Duration
    /// Kills and the peak; `nil` where the memory controller is not delegated.
    let memory: MemoryEvents?

    /// Counts now.
    init(of group: ControlGroup) throws(SystemCallError) {
        clock = try ControlGroupClock(of: group)
        usage = clock.usage() ?? .zero
        memory = group.memoryEvents
    }
}

/// A task that is made, isolated and waiting before its launch is known.
struct Standby {
    /// Where it waits; the launch that is spawned into it takes it.
    let group: ControlGroup
    /// Whether it may start processes: it waits for launches that may too.
    let subprocesses: Bool
    /// What its group had used when it was there; `nil` while it is made.
    var count: GroupCount?
    /// The launch that came while it was made.
    var waiter: LaunchID?
}

/// Standbys: one for each template whose tasks have cgroups, made while the launch before it runs.
///
/// Documentation/Decisions/0005-a-task-stands-by.md.
extension LauncherCore {
    /// How long a handler runs before the next one's task is made, unless it completes sooner: cloning takes
    /// a core from it.
    static let standbyDelay = Duration.milliseconds(1)

    /// Finds the standby that a launch can use.
    ///
    /// - Returns: Whether the launch must wait for one that is being made: sooner there than another clone,
    ///   for which the template would have to end that one first.
    func awaitsStandby(_ launch: RunningLaunch, of id: UInt64) -> Bool {
        guard let standby = standbys[id], standby.subprocesses == launch.order.subprocesses,
            !launch.order.fresh
        else { return false }
        if let count = standby.count {
            launch.enter(standby.group, counted: count)
            standbys[id] = nil
            return false
        }
        guard standby.waiter == nil else { return false }
        standbys[id]?.waiter = launch.id
        return true
    }

    /// Asks for the next launch's task, once for each launch at most.
    func makeStandby(after launch: RunningLaunch) {
        launch.standbyTimer?.cancel()
        launch.standbyTimer = nil
        guard isolation == .cgroup, let id = launch.template, let template = book.templates[id],
            template.isCloneable, !launch.order.fresh, standbys[id] == nil,
            !templatesWithoutStandby.contains(id), !isShuttingDown, var pool = groups
        else { return }
        // Without a standby every launch is cloned when it comes: nothing is lost but time.
        guard let group = try? pool.acquire() else { return }
        groups = pool
        let standby = Standby(group: group, subprocesses: launch.order.subprocesses)
        let message = PrepareMessage(
            template: id, cgroup: group.path, subprocesses: standby.subprocesses)
        if (try? send(message)) != nil { standbys[id] = standby } else { groups?.release(group) }
    }

    /// The launcher has made one, or says why not.
    func prepared(_ message: PreparedMessage) {
        guard var standby = standbys[message.template] else { return }
        let waiter = standby.waiter.flatMap(find)
        standby.waiter = nil
        standby.count = message.finding == nil ? try? GroupCount(of: standby.group) : nil
        if standby.count == nil {
            standbys[message.template] = nil
            templatesWithoutStandby.insert(message.template)
            groups?.discard(standby.group)
        } else {
            standbys[message.template] = standby
        }
        guard let waiter else { return }
        if waiter.life.stage == .spawning, waiter.life.expiration == nil {
            spawn(waiter)
        } else {
            // It was asked to stop while it waited: nothing of it starts any more.
            handle(.spawnFailed(finding: "it was stopped before it started"), waiter)
        }
    }

    /// Its template has gone, and it with it.
    func removeStandby(of id: UInt64) {
        templatesWithoutStandby.remove(id)
        guard let standby = standbys.removeValue(forKey: id) else { return }
        groups?.discard(standby.group)
        if let waiter = standby.waiter.flatMap(find) {
            handle(.spawnFailed(finding: "the process that holds its plugin is being replaced"), waiter)
        }
    }
}
