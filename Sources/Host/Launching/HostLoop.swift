import NIOCore
import NIOPosix

/// The host's event loop: a thread that runs both the host's actor and the handling of launches.
///
/// Because they share the thread, reports of launches reach the actor without waking another thread. The
/// thread sleeps while there is no work, and ends when the last reference to this object is dropped. Nothing
/// that blocks may run on it.
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

    /// Runs a closure on the thread, after all earlier ones; callable from any thread.
    public func execute(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { loop.preconditionInEventLoop() }
}
