import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// The life of the launcher itself: it may die and be replaced, and ends with the host.
extension LauncherCore {
    /// A launcher has said hello.
    func connected(_ link: LauncherLink) {
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

    /// The launcher is gone: what ran is emptied off the loop, then reported as lost.
    func disconnected(_ message: String) {
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
        // The sweep removed the pool's directories.
        if let base = groups?.base { groups = try? GroupPool(base: base) }
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

    /// There is no launcher for now: what waits for one ends, and may be tried again later.
    func reportUnavailable(_ message: String) {
        if !isShuttingDown { tell(.launcherUnavailable(message: message)) }
        loseLaunches(message)
    }

    private func loseLaunches(_ message: String) {
        for launch in launches.values.sorted(by: { $0.number < $1.number }) {
            handle(.launcherDied(message: message), launch)
        }
    }

    /// Lets the launcher drain and end.
    func shutDown() {
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
