import NIOCore
import NIOPosix

/// The thread of the control channel: connections and the tasks that answer them share it, so that a request
/// wakes one thread and not several in turn.
///
/// Long work must leave it, as the answers to GET do, which may be long listings.
final class ControlLoop: TaskExecutor {
    let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop

    init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
    }

    deinit {
        group.shutdownGracefully { _ in }
    }

    /// Returns after a time; at once if the task is cancelled.
    func pause(_ time: TimeAmount) async {
        let timer = loop.scheduleTask(in: time) {}
        await withTaskCancellationHandler {
            try? await timer.futureResult.get()
        } onCancel: {
            timer.cancel()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
