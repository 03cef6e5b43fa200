import ArgumentParser
import LinuxSystem

/// Where the process begins: not `async`, because signals must be blocked before Swift starts its threads.
@main
enum Main {
    static func main() {
        SignalWatch.block(DaemonCommand.stopSignals)
        // Detached: the main thread, which `main` is bound to, only sleeps from here on.
        Task.detached {
            await DaemonCommand.runAndExit()
        }
        // Not dispatchMain: it waits with every signal unblocked, and the first Ctrl-C would end the host.
        BlockingThread.park()
    }
}
