import LinuxSystem
import NIOCore
import TaskModel

/// Counts the processes and threads of launches where the kernel limits them neither by a controller nor by a
/// resource limit: under a host of root whose bundles have no users.
extension LauncherCore {
    /// Whether the host counts the processes of a launch.
    func countsProcesses(of launch: RunningLaunch) -> Bool {
        countsProcesses(of: launch.order.place.user)
    }

    private func countsProcesses(of user: UInt32?) -> Bool {
        !groupsLimitProcesses && limitOfProcesses(for: user) == nil
    }

    /// Starts to watch the number of the machine's threads, while there is a launch or a template whose
    /// processes the host counts.
    func watchThreads() {
        guard threadTimer == nil,
            launches.values.contains(where: countsProcesses(of:))
                || templateGroups.keys.contains(where: {
                    book.templates[$0].map { countsProcesses(of: $0.key.user) } ?? false
                })
        else { return }
        if threadGrowth.hasGrown(to: MachineThreads.count(), beyond: mostProcesses) { endAllWithTooMany() }
        threadTimer = after(ThreadGrowth.interval) { [self] in
            threadTimer = nil
            watchThreads()
        }
    }

    var mostProcesses: Int { min(Int(clamping: processLimit), GroupPool.processLimit) }

    /// Counts the threads of all launches, and of all templates, whose constructors may start some at once or
    /// later.
    private func endAllWithTooMany() {
        for launch in launches.values where countsProcesses(of: launch) {
            _ = endIfTooMany(launch, launch.threadCount(upTo: mostProcesses))
        }
        for (id, group) in templateGroups where templateGroups[id] != nil {
            let count = group.threadCount(upTo: mostProcesses)
            guard count > mostProcesses else { continue }
            endTemplate(
                id, because: "it has at least \(count) processes and threads; the limit is \(mostProcesses)")
        }
    }

    /// Kills a launch with more processes and threads than a launch may have.
    ///
    /// - Parameters:
    ///   - launch: The launch.
    ///   - count: Their number, or one that is above the limit, too.
    /// - Returns: Whether the launch ends.
    func endIfTooMany(_ launch: RunningLaunch, _ count: Int) -> Bool {
        guard countsProcesses(of: launch), launch.pid != nil, count > mostProcesses,
            ![.killing, .ended].contains(launch.life.stage)
        else { return false }
        let finding = "it had at least \(count) processes and threads; the limit is \(mostProcesses)"
        // The task can have completed before it started these threads, so the host reads what it reported
        // before it handles the kill.
        _ = after(.milliseconds(1)) { [self] in
            guard launch.exit == nil else { return }
            // At once: the launcher's kill comes after a look at the threads, and until then there are ever
            // more.
            try? launch.group?.kill()
            launch.process?.kill()
            handle(.kill(.protocolError, message: finding), launch)
        }
        return true
    }
}
