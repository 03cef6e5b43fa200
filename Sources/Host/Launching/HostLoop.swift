import NIOCore
import NIOPosix

/// The thread on which the host decides and its launches are attended to: an executor for an actor.
///
/// Launches that report and the actor that gets the reports share it, so neither wakes another thread for the
/// other. It sleeps while nothing happens, and ends when nothing refers to it any more. Nothing that blocks
/// may run here.
public final class HostLoop: SerialExecutor {
    private let group: MultiThreadedEventLoopGroup
    let loop: any EventLoop

    /// Starts the thread.
    public init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
    }

    deinit {
        group.shutdownGracefully { _ in }
    }

    /// Runs a closure on the thread, after those that were given before; any thread.
    public func execute(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { loop.preconditionInEventLoop() }
}
