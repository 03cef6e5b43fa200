import LinuxSystem
import NIOCore
import TaskModel

/// Monitors the CPU time and memory of running launches.
extension LauncherCore {
    /// How often memory is measured if the kernel does not enforce the limit.
    static let memoryInterval = Duration.seconds(1)

    /// Schedules the next measurements of a launch.
    func scheduleMonitor(_ launch: RunningLaunch) {
        launch.monitorTimer?.cancel()
        launch.monitorTimer = nil
        if isPolled(launch) { scheduleMemoryLook() }
        guard launch.life.stage == .running, let next = launch.monitor?.nextSampleAt else { return }
        launch.monitorTimer = after(next - moments.now().monotonic) { [self] in lookAtCPU(of: launch) }
    }

    private func lookAtCPU(of launch: RunningLaunch) {
        guard launch.life.stage == .running, !endIfLeft(launch) else { return }
        let finding =
            launch.monitor?.sample(at: moments.now().monotonic, usage: launch.cpuTime().0) ?? .within
        let isPastHalf = launch.monitor?.isPastHalf ?? false
        launch.setHalved(isPastHalf)
        if isPastHalf { sampleThreads(of: launch) }
        switch finding {
        case .within:
            break
        case .half(let message):
            tell(.cpuWarning(launch.id, message: message))
        case .exceeded(let message):
            tell(.cpuWarning(launch.id, message: message))
            launch.limitReport = message + "\n" + (launch.monitor?.history ?? "")
            handle(.expire(.cpuLimit, note: message), launch)
            return
        }
        scheduleMonitor(launch)
    }

    /// One timer serves all launches: with a timer for each of a thousand launches, the host would wake up a
    /// thousand times a second.
    private func scheduleMemoryLook() {
        if memoryTimer == nil { memoryTimer = after(Self.memoryInterval) { [self] in lookAtMemory() } }
    }

    /// Whether the host must look at a launch itself, once a second.
    private func isPolled(_ launch: RunningLaunch) -> Bool {
        launch.hasLimits
            && (launch.memoryBefore == nil || launch.canLeaveGroup || countsProcesses(of: launch))
    }

    private func lookAtMemory() {
        memoryTimer = nil
        for launch in launches.values where isPolled(launch) {
            guard !endIfLeft(launch), !endIfTooMany(launch) else { continue }
            if launch.memoryBefore == nil { took(launch.residentBytes(), of: "memory", launch) }
            if isPolled(launch) { scheduleMemoryLook() }
        }
    }

    /// Compares memory of a launch that was measured with its limit; `what` it is stands in the message.
    func took(_ bytes: Int64, of what: String, _ launch: RunningLaunch) {
        let limit = launch.order.declaration.limits.memory
        guard bytes > limit.bytes else { return }
        let note = "it used \(ByteCount(bytes: bytes)) of \(what); the limit is \(limit)"
        let isFar = bytes > MemoryEnd.most(limit: limit).bytes
        handle(.limitPassed(.memoryLimit, note: note, isFar: isFar), launch)
    }

    /// Ends a launch with a process that has moved itself to another cgroup, where its CPU time is not
    /// counted and a kill of the group does not reach it.
    ///
    /// The launcher kills that process when the task has ended.
    ///
    /// - Returns: Whether the launch ends.
    private func endIfLeft(_ launch: RunningLaunch) -> Bool {
        guard launch.canLeaveGroup, let group = launch.group, let pid = launch.pid,
            let stray = ProcessUsage.descendants(of: pid).first(where: { !group.mayContain($0) })
        else { return false }
        handle(.kill(.protocolError, message: "its process \(stray) has left the launch's cgroup"), launch)
        return true
    }

    /// Returns the present resource use of one launch; `nil` if it has no process.
    func usage(of id: LaunchID) -> LaunchUsage? { find(id).flatMap(usage(of:)) }

    /// The resource use of every launch that has a process.
    func usage() -> [LaunchID: LaunchUsage] {
        loop.assertInEventLoop()
        var result: [LaunchID: LaunchUsage] = [:]
        for launch in launches.values { result[launch.id] = usage(of: launch) }
        return result
    }

    private func usage(of launch: RunningLaunch) -> LaunchUsage? {
        guard launch.pid != nil else { return nil }
        let (cpuTime, isLowerBound) = launch.cpuTime()
        return LaunchUsage(
            cpuTime: cpuTime, cpuIsLowerBound: isLowerBound,
            peakMemory: launch.peakResident > 0 ? ByteCount(bytes: launch.peakResident) : nil)
    }

    /// Removes the CPU limit of a launch (`nil`) or restores it; the window starts again.
    func setCPULimit(_ id: LaunchID, _ limit: CPULimit?) {
        guard let launch = find(id) else { return }
        launch.cpuLimit = limit
        if launch.hold?.isHeld != true { putLimitIntoForce(launch) }
    }

    func setPriority(_ id: LaunchID, _ priority: LaunchPriority) {
        guard let launch = find(id) else { return }
        ProcessPriority.apply(priority, to: launch.processes)
        launch.setWeight(priority.cpuWeight)
    }

    /// Starts a new window with the limit that applies now: none while a debugger holds the launch.
    func putLimitIntoForce(_ launch: RunningLaunch) {
        let limit = launch.hold?.isHeld == true ? nil : launch.cpuLimit
        launch.monitor?.setLimit(limit, at: moments.now().monotonic, usage: launch.cpuTime().0)
        launch.setHalved(false)
        scheduleMonitor(launch)
    }
}
