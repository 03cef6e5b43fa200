import Recording
import Scheduling
import SystemConditions
import TaskModel

/// What the host does before the machine sleeps: what may be put off stops and saves its place first.
extension TaskHost {
    func handle(_ notice: SleepNotice) async {
        switch notice {
        case .hasWoken:
            sleepDelay = nil
            note(.hasWoken)
            await schedule(.timePassed)
        case .willSleep(let delay):
            log.append(.notice, "the machine is about to sleep")
            sleepDelay = delay
            note(.willSleep)
            for id in discretionaryLaunches { await schedule(.expireRequested(id, .systemSleep)) }
            letSleepIfDrained()
        }
    }

    /// Lets the machine sleep once nothing runs that may be put off; the sensors do after 5 s in any case.
    func letSleepIfDrained() {
        guard let delay = sleepDelay, starting.isEmpty, discretionaryLaunches.isEmpty else { return }
        delay.release()
    }

    private var discretionaryLaunches: [LaunchID] {
        running.values.filter { $0.request.isDiscretionary }.map(\.record.id).sorted()
    }
}
