import Dispatch
import LinuxSystem
import NIOCore
import Synchronization
import TaskModel

/// Monitors the CPU time and memory of running launches.
extension LauncherCore {
    /// How often memory is measured if the kernel does not enforce the limit.
    static let memoryInterval = Duration.seconds(1)

    /// Where launches with few processes are measured.
    private static let surveys = surveyQueue()
    private static func surveyQueue() -> DispatchQueue {
        DispatchQueue(label: "bgtask.surveys", qos: .userInitiated)
    }
    /// How long the measurement of a launch may take until the launch is killed: 10 s.
    ///
    /// Our choice; with some processes, it takes less than a millisecond.
    static let longestSurvey = Duration.seconds(10)
    /// Where launches with very many processes are measured, because that takes time.
    static let crowdedSurveys = DispatchQueue(label: "bgtask.crowded", qos: .userInitiated)

    /// Schedules the next measurements of a launch.
    func scheduleMonitor(_ launch: RunningLaunch) {
        launch.monitorTimer?.cancel()
        launch.monitorTimer = nil
        watchMemory(of: launch)
        guard limitsCPU(of: launch), let next = launch.monitor?.nextSampleAt else { return }
        launch.monitorTimer = after(next - moments.now().monotonic) { [self] in lookAtCPU(of: launch) }
    }

    /// Whether the limit of CPU time applies: also when the task has completed, but not after the task was
    /// asked to stop.
    private func limitsCPU(of launch: RunningLaunch) -> Bool {
        launch.life.stage == .running || launch.life.stage == .completed && launch.hasLimits
    }

    private func lookAtCPU(of launch: RunningLaunch) {
        guard limitsCPU(of: launch) else { return }
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
            handle(.limitPassed(.cpuLimit, note: message), launch)
            return
        }
        scheduleMonitor(launch)
    }

    /// One timer serves all launches: with a timer for each of a thousand launches, the host would wake up a
    /// thousand times a second.
    private func scheduleMemoryLook() {
        if memoryTimer == nil { memoryTimer = after(Self.memoryInterval) { [self] in lookAtMemory() } }
    }

    /// Starts to measure a launch whose process exists, if the host has to: the constructors of its library
    /// run before it is ready.
    func watchMemory(of launch: RunningLaunch) {
        if isPolled(launch) { scheduleMemoryLook() }
    }

    /// Whether the host must look at a launch itself, once a second.
    private func isPolled(_ launch: RunningLaunch) -> Bool {
        launch.hasLimits
            && (launch.memoryBefore == nil || launch.canLeaveGroup || countsProcesses(of: launch))
    }

    private func lookAtMemory() {
        memoryTimer = nil
        let polled = launches.values.filter(isPolled)
        if polled.isEmpty { return }
        scheduleMemoryLook()
        let now = moments.now().monotonic
        for launch in polled {
            let began = launch.survey?.began.withLock(\.self)
            if let began, now - began > Self.longestSurvey { killUnmeasured(launch) }
        }
        let isHeldUp = !surveyRounds.isEmpty
        for round in surveyRounds where round.hasWaiting { survey(round, on: Self.surveyQueue()) }
        let looks = polled.compactMap { launch -> SurveyRound.Look? in
            let aims = aims(for: launch)
            guard !launch.isBeingSurveyed, let survey = survey(of: launch), !survey.rests(aims) else {
                return nil
            }
            return SurveyRound.Look(launch: launch, survey: survey, aims: aims)
        }
        if looks.isEmpty { return }
        for look in looks { look.launch.isBeingSurveyed = true }
        let round = SurveyRound(looks)
        surveyRounds.append(round)
        survey(round, on: isHeldUp ? Self.surveyQueue() : Self.surveys)
    }

    private func survey(_ round: SurveyRound, on queue: DispatchQueue) {
        queue.async { [self] in
            let found = round.work { moments.now().monotonic }
            loop.execute { [self] in
                surveyRounds.removeAll { $0.hasEnded }
                for (look, finding) in found {
                    if let finding {
                        took(finding, look.launch)
                    } else {
                        surveyCrowded(look.launch, look.survey, look.aims)
                    }
                }
            }
        }
    }

    /// Kills a launch that has held up its measurement for too long.
    private func killUnmeasured(_ launch: RunningLaunch) {
        try? launch.group?.kill()
        launch.process?.kill()
        let time = Self.longestSurvey.shortText
        let message = "its memory could not be measured within \(time)"
        handle(.kill(.protocolError, message: message), launch)
    }

    /// Measures a launch with many processes; others do not wait for it.
    private func surveyCrowded(_ launch: RunningLaunch, _ survey: LaunchSurvey, _ aims: LaunchSurvey.Aims) {
        Self.crowdedSurveys.async { [self] in
            survey.began.withLock { $0 = moments.now().monotonic }
            let finding = survey.look(aims, few: ProcessUsage.most)
            survey.began.withLock { $0 = nil }
            loop.execute { [self] in
                guard let finding else { return tookTooMany(launch) }
                took(finding, launch)
            }
        }
    }

    /// Kills a launch with more processes than can be measured.
    private func tookTooMany(_ launch: RunningLaunch) {
        launch.isBeingSurveyed = false
        guard isPolled(launch) else { return }
        try? launch.group?.kill()
        launch.process?.kill()
        let message = "it had more than \(ProcessUsage.most) processes, so its memory can't be measured"
        handle(.kill(.protocolError, message: message), launch)
    }

    private func survey(of launch: RunningLaunch) -> LaunchSurvey? {
        guard let pid = launch.pid else { return nil }
        let survey =
            launch.survey
            ?? LaunchSurvey(group: launch.group, process: pid, mayGrow: launch.order.mayStartProcesses)
        launch.survey = survey
        return survey
    }

    private func aims(for launch: RunningLaunch) -> LaunchSurvey.Aims {
        LaunchSurvey.Aims(
            measuresMemory: launch.memoryBefore == nil, looksForStrays: launch.canLeaveGroup,
            mostThreads: countsProcesses(of: launch) ? mostProcesses : nil)
    }

    private func took(_ finding: LaunchSurvey.Finding, _ launch: RunningLaunch) {
        launch.isBeingSurveyed = false
        guard isPolled(launch) else { return }
        launch.took(finding)
        if let stray = finding.stray {
            // Its CPU time is not counted, and a kill of the group does not reach it. The launcher kills it
            // when the task has ended.
            let message = "its process \(stray) has left the launch's cgroup"
            return handle(.kill(.protocolError, message: message), launch)
        }
        guard !endIfTooMany(launch, finding.threads) else { return }
        if let memory = finding.memory { took(memory, of: "memory", launch) }
    }

    /// Compares memory of a launch that was measured with its limit; `what` it is stands in the message.
    func took(_ bytes: Int64, of what: String, _ launch: RunningLaunch) {
        let limit = launch.order.declaration.limits.memory
        guard bytes > limit.bytes else { return }
        let note = "it used \(ByteCount(bytes: bytes)) of \(what); the limit is \(limit)"
        // A process that is still loading its library can't be asked to stop.
        let isFar = bytes > MemoryEnd.most(limit: limit).bytes || launch.readyAt == nil
        // A launch that has been asked to stop keeps the first note.
        if isFar || launch.judgedMemory == nil {
            launch.judgedMemory = "\(ByteCount(bytes: bytes))" + (what == "memory" ? "" : " of \(what)")
        }
        handle(.limitPassed(.memoryLimit, note: note, isFar: isFar), launch)
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
            peakMemory: launch.peakResident > 0 ? ByteCount(bytes: launch.peakResident) : nil,
            network: launch.networkCounter?.bytes())
    }

    /// Removes the CPU limit of a launch (`nil`) or restores it; the window starts again.
    func setCPULimit(_ id: LaunchID, _ limit: CPULimit?) {
        guard let launch = find(id) else { return }
        launch.cpuLimit = limit
        if launch.hold?.isHeld != true { putLimitIntoForce(launch) }
    }

    func setPriority(_ id: LaunchID, _ priority: LaunchPriority) {
        guard let launch = find(id) else { return }
        if let pid = launch.pid {
            // The launch can end meanwhile: its number is then free for another process. While it runs, the
            // handle shows that the numbers below it were read from it.
            launch.priorities.async { [process = launch.process, group = launch.group] in
                let processes = group?.processes ?? ProcessUsage.processes(below: pid)
                guard process?.waitForEnd(timeoutMilliseconds: 0) == false else { return }
                ProcessPriority.apply(priority, to: processes)
            }
        }
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
