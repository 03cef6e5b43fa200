import NIOCore
import NIOPosix

/// The thread of the control channel.
///
/// Connections and the Swift tasks that answer them share it, so that a request wakes only one thread. Long
/// work must not run on it. Routes for GET therefore leave it, because their answers can be long listings.
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

    /// Waits for a time; returns at once if the Swift `Task` is cancelled.
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
