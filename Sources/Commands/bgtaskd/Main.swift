import ArgumentParser
import LinuxSystem

/// The start of the process.
///
/// It is not `async`, because signals must be blocked before Swift starts threads.
@main
enum Main {
    static func main() {
        StandardStreams.openMissing()
        SignalWatch.block(DaemonCommand.handledSignals)
        // The Swift task is detached because `main` is bound to the main thread, which only sleeps from here
        // on.
        Task.detached {
            await DaemonCommand.runAndExit()
        }
        // `dispatchMain` would wait with all signals unblocked, so the first Ctrl-C would kill the host.
        BlockingThread.park()
    }
}
