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
        book.removeAll()
        templateTimers.values.forEach { $0.cancel() }
        templateTimers = [:]
        idleTimers.values.forEach { $0.cancel() }
        idleTimers = [:]
        templateUses = [:]
        templateGroups = [:]
        standbys = [:]
        templatesWithoutStandby = []
        let base = groups?.base
        let running = launches.values.filter {
            $0.life.stage != .waiting || isShuttingDown || $0.template != nil
        }
        let processes = running.compactMap(\.process)
        if !isShuttingDown { tell(.launcherDied(message: message)) }
        BlockingThread.start(named: "bgtask-sweep") { [self] in
            if let base { try? GroupPool.empty(base) }
            for process in processes {
                process.kill()
                _ = process.waitForEnd(timeoutMilliseconds: 5000)
            }
            loop.execute { [self] in swept(running, message) }
        }
    }

    private func swept(_ running: [RunningLaunch], _ message: String) {
        groups?.forgetAll()
        for launch in running.sorted(by: { $0.number < $1.number }) {
            launch.group = nil
            handle(.launcherDied(message: message), launch)
        }
        if isShuttingDown {
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
        guard let link else {
            loseLaunches("the host stops")
            conclude()
            return
        }
        link.endSending()
    }

    private func conclude() {
        onEnd?()
        onEnd = nil
    }
}
