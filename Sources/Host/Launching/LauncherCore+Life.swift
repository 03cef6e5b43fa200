import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// The launcher process itself: its start, its death and its end with the host.
extension LauncherCore {
    /// Handles the connection of a new launcher, which has sent *hello*.
    func connected(_ link: LauncherLink) {
        loop.assertInEventLoop()
        self.link = link
        if isShuttingDown {
            link.endSending()
            return
        }
        for launch in launches.values.sorted(by: { $0.number < $1.number })
        where launch.life.stage == .waiting {
            prepare(launch)
        }
    }

    /// Handles the end of the launcher: kills all tasks on another thread, and then reports them as lost.
    func disconnected(_ message: String) {
        loop.assertInEventLoop()
        link = nil
        answers.removeAll()
        overdueTemplates = [:]
        book.removeAll()
        templateTimers.values.forEach { $0.cancel() }
        templateTimers = [:]
        idleTimers.values.forEach { $0.cancel() }
        idleTimers = [:]
        templateUses = [:]
        templateGroups = [:]
        templateProcesses = [:]
        templateCopies = [:]
        standbys = [:]
        templatesWithoutStandby = []
        let base = groups?.base
        let running = launches.values.filter {
            $0.life.stage != .waiting || isShuttingDown || $0.template != nil
        }
        let processes = running.compactMap(\.process)
        if !isShuttingDown, !isAbandoned { tell(.launcherDied(message: message)) }
        BlockingThread.start(named: "bgtask-sweep") { [self] in
            if let base { try? GroupPool.empty(base) }
            for process in processes { process.kill() }
            // All processes together have one time limit, so that many that can't end do not delay the host
            // for many times that long.
            let end = moments.now().monotonic + Self.sweepTime
            for process in processes {
                let rest = max(.zero, end - moments.now().monotonic).wholeMilliseconds
                _ = process.waitForEnd(timeoutMilliseconds: Int32(clamping: rest))
            }
            loop.execute { [self] in swept(running, message) }
        }
    }

    /// Reads what the tasks sent before they were killed, which may be *done*, and then reports them.
    private func swept(_ running: [RunningLaunch], _ message: String) {
        loop.assertInEventLoop()
        for launch in running { openOutput(launch) }
        readToEnd(running, until: moments.now().monotonic + Self.readTime) { [self] in
            reportSwept(running, message)
        }
    }

    /// Waits until the pipes of launches whose processes were killed have been read, but not for a process
    /// outside the launch that has a copy of a pipe.
    private func readToEnd(
        _ running: [RunningLaunch], until end: Duration, _ then: @escaping @Sendable () -> Void
    ) {
        let isRead = running.allSatisfy { $0.openPipes == 0 || $0.life.stage == .ended }
        guard !isRead, !isAbandoned, moments.now().monotonic < end else { return then() }
        _ = after(.milliseconds(1)) { [self] in readToEnd(running, until: end, then) }
    }

    private func reportSwept(_ running: [RunningLaunch], _ message: String) {
        groups?.forgetAll()
        for launch in running.sorted(by: { $0.number < $1.number }) {
            launch.group = nil
            handle(.launcherDied(message: message), launch)
        }
        if isShuttingDown || isAbandoned {
            groups?.remove()
            conclude()
        } else {
            replaceLauncher?()
        }
    }

    /// Ends all launches as lost, because no launcher can be started at present.
    func reportUnavailable(_ message: String) {
        if !isShuttingDown { tell(.launcherUnavailable(message: message)) }
        loseLaunches(message)
    }

    private func loseLaunches(_ message: String) {
        for launch in launches.values.sorted(by: { $0.number < $1.number }) {
            handle(.launcherDied(message: message), launch)
        }
    }

    /// Closes the connection, upon which the launcher ends its tasks and then itself.
    func shutDown() {
        loop.assertInEventLoop()
        isShuttingDown = true
        guard let link, !isAbandoned else {
            loseLaunches("the host stops")
            conclude()
            return
        }
        link.endSending()
        _ = after(answers.answerTime) { [self] in
            self.link?.kill(
                because:
                    "the launcher (the process that starts tasks) did not end in time, so the host killed it")
        }
    }

    /// Ends all launches as lost and kills the launcher, because their processes do not end: a host that was
    /// asked twice to stop must not wait for them.
    func abandon() {
        loop.assertInEventLoop()
        isAbandoned = true
        link?.kill(because: "the host was asked twice to stop, and processes of tasks had not ended")
        loseLaunches("the host was asked twice to stop, and the launch's processes had not ended")
        if isShuttingDown { conclude() }
    }

    // MARK: Answers

    /// Handles a signal that stopped or continued the launcher.
    func paused(_ link: LauncherLink, _ pause: ProcessHandle.Pause) {
        loop.assertInEventLoop()
        guard link === self.link else { return }
        switch pause {
        case .stopped: awaitAnswer(.goOn)
        case .continued: answers.answered(.goOn)
        }
    }

    /// Kills the processes of a launch without the launcher, if they still exist when it has had time to kill
    /// them.
    func killLater(_ launch: RunningLaunch) {
        _ = after(Self.killTime) { [self] in
            guard launches[launch.number] === launch, launch.life.stage == .killing else { return }
            try? launch.group?.kill()
            launch.process?.kill()
        }
    }

    /// How long the launcher has for a kill before the host does it: our choice, a hundred times what it
    /// needs.
    private static let killTime = Duration.seconds(1)

    /// How long the host reads the pipes of processes that were killed, which takes microseconds.
    private static let readTime = Duration.seconds(1)

    /// How long the host waits for the processes of a launcher that has died.
    private static let sweepTime = Duration.seconds(5)

    /// Starts to wait for the launcher's answer to an order.
    func awaitAnswer(_ order: AnswerWatch.Order) {
        guard link != nil else { return }
        answers.ask(order, at: moments.now().monotonic)
        // The timer is not cancelled by the answer: one timer for many launches costs less than one for each.
        if answerTimer == nil { lookAtAnswers(after: answers.answerTime) }
    }

    private func lookAtAnswers(after time: Duration) {
        answerTimer = after(time) { [self] in
            answerTimer = nil
            switch answers.look(at: moments.now().monotonic) {
            case .quiet: break
            case .lookAgain(let time): lookAtAnswers(after: time)
            case .unresponsive:
                answers.removeAll()
                link?.kill(
                    because:
                        "the launcher (the process that starts tasks) did not answer in time, so the host killed it"
                )
            }
        }
    }

    func conclude() {
        guard openReports == 0 else {
            awaitsReports = true
            return
        }
        onEnd?()
        onEnd = nil
    }
}
