import LinuxSystem
import NIOCore
import TaskModel

/// CPU and memory of running launches.
extension LauncherCore {
    /// How often memory is looked at where no controller limits it.
    static let memoryInterval = Duration.seconds(1)

    /// Sets the timer of the next look at a launch.
    func scheduleMonitor(_ launch: RunningLaunch) {
        launch.monitorTimer?.cancel()
        guard launch.life.stage == .running else { return }
        // Where the kernel keeps the memory limit, and no CPU limit is in force, there is nothing to check.
        let memory = launch.memoryBefore == nil ? Self.memoryInterval : nil
        let cpu = launch.monitor?.nextSampleAt.map { $0 - moments.now().monotonic }
        guard let next = [cpu, memory].compactMap(\.self).min() else { return }
        launch.monitorTimer = after(next) { [self] in look(at: launch) }
    }

    private func look(at launch: RunningLaunch) {
        guard launch.life.stage == .running else { return }
        switch lookAtCPU(of: launch) {
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
        guard launch.memoryBefore == nil else { return scheduleMonitor(launch) }
        let resident = launch.residentBytes()
        if resident > launch.order.limits.memory.bytes {
            let limit = launch.order.limits.memory
            handle(
                .expire(
                    .memoryLimit, note: "\(ByteCount(bytes: resident)) are resident, the limit is \(limit)"),
                launch)
            return
        }
        scheduleMonitor(launch)
    }

    /// Measures the CPU time, unless the look is for the memory and no limit can have been reached.
    private func lookAtCPU(of launch: RunningLaunch) -> CPUMonitor.Finding {
        let now = moments.now().monotonic
        guard let due = launch.monitor?.nextSampleAt, due <= now else { return .within }
        let finding = launch.monitor?.sample(at: now, usage: launch.cpuTime().0) ?? .within
        let isPastHalf = launch.monitor?.isPastHalf ?? false
        launch.setHalved(isPastHalf)
        if isPastHalf { sampleThreads(of: launch) }
        return finding
    }

    /// What every launch that has a process has used.
    func usage() -> [LaunchID: LaunchUsage] {
        var result: [LaunchID: LaunchUsage] = [:]
        for launch in launches.values where launch.pid != nil {
            let (cpuTime, isLowerBound) = launch.cpuTime()
            result[launch.id] = LaunchUsage(
                cpuTime: cpuTime, cpuIsLowerBound: isLowerBound,
                peakMemory: launch.peakResident > 0 ? ByteCount(bytes: launch.peakResident) : nil)
        }
        return result
    }

    /// Relaxes (`nil`) or restores a CPU limit; the window starts afresh.
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

    /// Starts the window afresh under the limit that holds now: none while a debugger holds the launch.
    func putLimitIntoForce(_ launch: RunningLaunch) {
        let limit = launch.hold?.isHeld == true ? nil : launch.cpuLimit
        launch.monitor?.setLimit(limit, at: moments.now().monotonic, usage: launch.cpuTime().0)
        launch.setHalved(false)
        scheduleMonitor(launch)
    }
}
