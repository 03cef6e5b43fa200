import Dispatch
import LinuxSystem
import Synchronization

/// An executor for jobs that may block: it has at least one thread for each job that runs at the same time.
///
/// Swift's own pool has one thread for each core. A test that waits in a system call occupies one of them, so
/// two such tests stop every other test on a machine with two cores.
final class PatientThreads: TaskExecutor {
    static let shared = PatientThreads()

    private struct State {
        var jobs: [UnownedJob] = []
        /// The number of threads that wait for a job, including those that have just started.
        var idle = 0
    }

    private let state = Mutex(State())
    private let waiting = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            if state.jobs.count <= state.idle { return false }
            state.idle += 1
            return true
        }
        if needsThread { BlockingThread.start(named: "test") { self.work() } }
        waiting.signal()
    }

    private func work() {
        while true {
            waiting.wait()
            let job = state.withLock { state in
                state.idle -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idle += 1 }
        }
    }
}
