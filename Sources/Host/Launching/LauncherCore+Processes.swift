import Dispatch
import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// The processes of launches, from the request to spawn to the end of the last process.
extension LauncherCore {
    func spawn(_ launch: RunningLaunch) {
        guard let id = launch.template, let template = book.templates[id] else {
            handle(.spawnFailed(finding: "the process that holds its plugin has ended"), launch)
            return
        }
        launch.copies = templateCopies[id] ?? []
        if launch.group == nil, awaitsStandby(launch, of: id) { return }
        do {
            if launch.group == nil, let group = try groups?.acquire(for: launch.order.place.user) {
                do {
                    launch.enter(group, counted: try GroupCount(of: group))
                } catch {
                    groups?.discard(group)
                    throw error
                }
            }
            // The second attempt has a new process with new pipes, so the frames start again.
            launch.encoder = FrameEncoder()
            let control = ControlPipe(on: loop)
            launch.control = control
            control.send(try launch.startFrames(at: moments.now()))
            try send(
                SpawnMessage(
                    launch: launch.number, template: id, cgroup: launch.group?.path,
                    subprocesses: launch.order.mayStartProcesses,
                    fresh: launch.order.isFresh || !template.isCloneable,
                    memory: UInt64(launch.order.declaration.limits.memory.bytes),
                    start: control.first(SpawnMessage.maximumStart)))
            awaitAnswer(.launch(launch.number))
        } catch {
            let isShortage = (error as? SystemCallError)?.isShortage ?? false
            handle(.spawnFailed(finding: "\(error)", isShortage: isShortage), launch)
            return
        }
        // The next payload may have other grants, so a template with those of this one would only use memory.
        let isUsedUp = book.countLaunch(of: id) || launch.order.place.grants.dependOnPayload
        if isUsedUp { retireTemplate(id) } else { templateUsed(id) }
    }

    func received(_ report: LauncherReport, _ descriptors: [CInt]) {
        loop.assertInEventLoop()
        if let launch = report.launch { answers.answered(.launch(launch)) }
        switch report {
        case .hello:
            break
        case .spawned(let message):
            spawned(message, descriptors)
        case .exited(let message):
            if let launch = launches[message.launch] { exited(launch, message) }
        case .templateStarted(let message):
            templateStarted(message.template, process: Int32(truncatingIfNeeded: message.pid))
        case .templateReady(let message):
            templateReady(message.template, message.isCloneable)
        case .templateFailed(let message):
            templateFailed(
                message.template, message.finding, message.waitStatus.map(ExitStatus.init(waitStatus:)),
                isShortage: message.isShortage)
        case .spawnFailed(let message):
            guard let launch = launches[message.launch] else { return }
            // The template can't clone any more, so the next launch needs a new one.
            if let id = launch.template, book.templates[id]?.isReady == true { retireTemplate(id) }
            // The launcher may have killed a process in this group without reporting it. Every process that
            // is later cloned into such a group is killed, too.
            if let group = launch.group {
                groups?.discard(group)
                launch.group = nil
                launch.clock = nil
                launch.networkCounter = nil
            }
            handle(
                .spawnFailed(
                    finding: OutputLines.harmless(message.finding), isShortage: message.isShortage), launch)
        case .unkillable(let message):
            guard let launch = launches[message.launch] else { return }
            handle(.unkillable, launch)
            tell(.unkillable(launch.id))
        case .prepared(let message):
            prepared(message)
        case .observed(let message):
            if let launch = launches[message.launch] { observed(message, launch) }
        }
    }

    func spawned(_ message: SpawnedMessage, _ descriptors: [CInt]) {
        guard let launch = launches[message.launch], descriptors.count == message.descriptorCount
        else {
            descriptors.forEach { _ = OwnedDescriptor(taking: $0) }
            return
        }
        if let group = launch.group { groups?.close(group) }
        launch.process = ProcessHandle(taking: OwnedDescriptor(taking: descriptors[0]))
        launch.pid = Int32(truncatingIfNeeded: message.pid)
        if message.hasCounter { launch.count(with: descriptors[5]) }
        open(launch, report: descriptors[2], stdout: descriptors[3], stderr: descriptors[4])
        launch.control?.open(descriptors[1], given: Int(clamping: message.given))
        tell(.started(launch.id, pid: Int32(truncatingIfNeeded: message.pid)))
        handle(.spawned, launch)
        watchMemory(of: launch)
    }

    func beginRun(_ launch: RunningLaunch) {
        if launch.life.stage == .running { launch.lifeTimer.cancel() }
        let now = moments.now()
        launch.readyAt = now.monotonic
        launch.handlerIsBelow = isolation == .pidNamespace
        launch.countDescendants()
        if launch.order.isDebugged, launch.handlerIsBelow, let handler = launch.handlerProcess {
            // A debugger needs the handler's process, and not the init process of its PID namespace.
            tell(.started(launch.id, pid: handler))
        }
        tell(.ready(launch.id, at: now))
        openOutput(launch)
        launch.standbyTimer = after(Self.standbyDelay) { [self] in makeStandby(after: launch) }
        beginHold(launch)
        launch.monitor = CPUMonitor(
            limit: launch.hold?.isHeld == true ? nil : launch.cpuLimit, cores: cores, at: now.monotonic,
            usage: launch.cpuTime().0)
        scheduleMonitor(launch)
        watchStorage(of: launch)
    }

    // MARK: Ends

    func exited(_ launch: RunningLaunch, _ message: ExitedMessage) {
        launch.exit = message
        openOutput(launch)
        if launch.openPipes == 0 {
            concludeExit(launch)
            return
        }
        closePipesLater(launch, attemptsLeft: 15)
    }

    /// Stops to wait for the end of the pipes after 2 s.
    ///
    /// The group is empty, so no process of the launch has them open, but an unrelated process can have a
    /// copy. What a bundle that has used up its share has left in them takes more time.
    private func closePipesLater(_ launch: RunningLaunch, attemptsLeft: Int) {
        launch.closingTimer = after(.seconds(2)) { [self] in
            if launch.wasPaused, attemptsLeft > 0 {
                return closePipesLater(launch, attemptsLeft: attemptsLeft - 1)
            }
            if launch.wasPaused {
                tell(
                    .log(
                        launch.id, level: .warning,
                        message:
                            "the rest of what it left in its pipes was dropped, because its bundle's messages "
                            + "and output used too much of the host's time",
                        subsystem: nil, category: nil))
            }
            launch.closePipes()
            launch.openPipes = 0
            concludeExit(launch)
        }
    }

    func concludeExit(_ launch: RunningLaunch) {
        guard let exit = launch.exit, launch.life.stage != .ended else { return }
        let events = launch.group?.memoryEvents
        let memory = MemoryEnd.finding(
            before: launch.memoryBefore, after: events, limit: launch.order.declaration.limits.memory)
        if memory != nil {
            launch.judgedMemory = MemoryEnd.peak(before: launch.memoryBefore, after: events).map { "\($0)" }
        }
        handle(
            .exited(
                ExitStatus(waitStatus: exit.waitStatus), leftovers: Int(clamping: exit.leftovers),
                outOfMemory: memory), launch)
    }

    func finish(_ launch: RunningLaunch, _ end: LaunchEnd) {
        launch.cancelTimers()
        launch.setHalved(false)
        tellNews(launch)
        finishOutput(launch)
        launch.control?.close()
        launch.closePipes()
        book.forget(launch.id)
        answers.answered(.launch(launch.number))
        launches[launch.number] = nil
        let (cpuTime, isLowerBound) = launch.cpuTime()
        var peak = max(launch.peakResident, Int64(clamping: launch.exit?.maximumResident ?? 0))
        let counted = MemoryEnd.peak(before: launch.memoryBefore, after: launch.group?.memoryEvents)
        peak = max(peak, counted?.bytes ?? 0)
        if let group = launch.group {
            let wasKilled = launch.wasKilled || (launch.exit.map { $0.leftovers > 0 } ?? true)
            // Sockets may still send what is left in them, which is no traffic of a later launch; and the
            // kernel counts until the group is removed.
            let isCounted = launch.networkCounter != nil
            if wasKilled || isCounted { groups?.discard(group) } else { groups?.release(group) }
        }
        let peakMemory = peak > 0 ? ByteCount(bytes: peak) : nil
        report(
            EndedLaunch(
                id: launch.id, end: end, at: moments.now(), cpuTime: cpuTime,
                cpuIsLowerBound: isLowerBound && launch.pid != nil, peakMemory: peakMemory,
                network: launch.networkCounter?.bytes()),
            draft(of: launch, end, peak: peakMemory), observation(of: launch))
    }

    /// Reports the end of a launch, after its termination report is made and its calls are judged, if it
    /// needs that.
    private func report(_ ended: EndedLaunch, _ draft: TerminationDraft?, _ calls: CallJudge?) {
        guard draft != nil || calls != nil else {
            tell(.ended(ended))
            return
        }
        openReports += 1
        Self.reports.async { [self] in
            var end = draft?.finished() ?? ended.end
            end.calls = calls?.judged()
            let final = end
            loop.execute { [self] in
                var ended = ended
                ended.end = final
                tellRefusals(of: ended)
                tell(.ended(ended))
                openReports -= 1
                if openReports == 0, awaitsReports { conclude() }
            }
        }
    }
}
