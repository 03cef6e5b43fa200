import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// The resource use that a cgroup had counted before a launch entered it.
struct GroupCount {
    /// Reads the CPU time of the group.
    let clock: ControlGroupClock
    /// The CPU time of the group so far.
    let usage: Duration
    /// The number of kills and the peak of memory so far; `nil` if the memory controller is not delegated.
    let memory: MemoryEvents?

    /// Reads the counts of a group.
    init(of group: ControlGroup) throws(SystemCallError) {
        clock = try ControlGroupClock(of: group)
        usage = clock.usage() ?? .zero
        memory = group.memoryEvents
    }
}

/// A standby: a task that is created and isolated before its launch is known, and then waits for it.
struct Standby {
    /// The cgroup of the task, which becomes that of the launch.
    let group: ControlGroup
    /// Whether the task may start processes; it can only be used for launches with the same permission.
    let subprocesses: Bool
    /// The counts of the group when the task was ready; `nil` while the task is being created.
    var count: GroupCount?
    /// The launch that waits for the task to be created; `nil` if there is none.
    var waiter: LaunchID?
}

/// Creates and uses standbys: at most one for each template, and only if tasks have cgroups.
///
/// See Documentation/Decisions/0005-a-task-stands-by.md.
extension LauncherCore {
    /// How long a handler runs before a standby for the next launch is created.
    ///
    /// The delay keeps the clone from taking a core from the handler. If the handler completes sooner, the
    /// standby is created then.
    static let standbyDelay = Duration.milliseconds(1)

    /// Lets a launch use the standby of its template, if one is ready or being created.
    ///
    /// - Returns: Whether the launch must wait. It waits while the standby is being created, because the
    ///   template would have to finish that clone before it could begin another one.
    func awaitsStandby(_ launch: RunningLaunch, of id: UInt64) -> Bool {
        guard let standby = standbys[id], standby.subprocesses == launch.order.mayStartProcesses,
            !launch.order.isFresh
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

    /// Asks the launcher for a standby for the next launch; each launch does so at most once.
    func makeStandby(after launch: RunningLaunch) {
        launch.standbyTimer?.cancel()
        launch.standbyTimer = nil
        guard isolation == .cgroup, let id = launch.template, let template = book.templates[id],
            template.isCloneable, !launch.order.isFresh, standbys[id] == nil,
            !templatesWithoutStandby.contains(id), !isShuttingDown
        else { return }
        // If this fails, the only cost is time: the next launch is cloned when it is requested.
        guard let group = try? groups?.acquire(for: launch.order.place.user) else { return }
        let standby = Standby(group: group, subprocesses: launch.order.mayStartProcesses)
        let message = PrepareMessage(
            template: id, cgroup: group.path, subprocesses: standby.subprocesses)
        if (try? send(message)) != nil { standbys[id] = standby } else { groups?.release(group) }
    }

    /// Handles the launcher's answer: the standby is ready, or could not be created.
    func prepared(_ message: PreparedMessage) {
        guard var standby = standbys[message.template] else { return }
        groups?.close(standby.group)
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
            // The launch was asked to stop while it waited, so it does not start.
            handle(.spawnFailed(finding: "it was stopped before it started"), waiter)
        }
    }

    /// Removes the standby of a template that has ended, because the standby ends with it.
    func removeStandby(of id: UInt64) {
        templatesWithoutStandby.remove(id)
        guard let standby = standbys.removeValue(forKey: id) else { return }
        groups?.discard(standby.group)
        if let waiter = standby.waiter.flatMap(find) {
            handle(
                .spawnFailed(finding: "the process that holds its plugin is being replaced"), waiter)
        }
    }
}
