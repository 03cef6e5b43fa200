import NIOCore
import TaskModel

/// Reads more slowly from launches that make too much work for the host.
extension LauncherCore {
    /// The longest time for which the host reads no reports at all: 200 ms.
    ///
    /// Less than half of the time that a task has for the report of its crash, and a tenth of the time after
    /// which it gives up on a host that does not read.
    private static let longestPause = Duration.milliseconds(200)

    /// Counts work that a launch made for the host, and stops reading its pipes for a while if its bundle has
    /// used up what it may use.
    ///
    /// The pipes then fill, and the task waits when it writes.
    func spend(_ work: Duration, _ launch: RunningLaunch) {
        let bundle = launch.order.record.bundle
        guard let wait = allowances.spend(work, of: bundle, at: moments.now().monotonic),
            launch.readingPause == nil
        else { return }
        if !launch.wasPaused { tellPause(launch) }
        pause(launch, wait)
    }

    private func pause(_ launch: RunningLaunch, _ wait: Duration) {
        let end = after(min(wait, Self.longestPause)) { [self] in
            let now = moments.now().monotonic
            guard let rest = allowances.spend(.zero, of: launch.order.record.bundle, at: now) else {
                return launch.goOnReading()
            }
            // The output can wait longer, but a thread of the task can be about to give up.
            launch.readers.first?.readLittle()
            // Unless the launch has ended with what was read.
            if launch.readingPause != nil { pause(launch, rest) }
        }
        launch.pauseReading(end)
    }

    /// Reads what the launch has sent, before the host decides how it ends: it can have completed.
    func readNow(_ launch: RunningLaunch) {
        if launch.listens { launch.readers.first?.readNow() }
    }

    private func tellPause(_ launch: RunningLaunch) {
        let percent = Int((allowances.rate.share * 100).rounded())
        tell(
            .log(
                launch.id, level: .notice,
                message:
                    "its bundle's messages and output use more than \(percent) % of a core in the host, so the "
                    + "host reads them more slowly; the task waits when it sends more",
                subsystem: nil, category: nil))
    }
}
