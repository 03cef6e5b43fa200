import LinuxSystem
import RunnerWire
import TaskModel

/// Finds out what a launch does that has used half of its CPU quota.
extension LauncherCore {
    /// How many threads of a launch are measured: our choice, a few milliseconds of the event loop.
    private static let sampledThreads = 256

    /// Measures the CPU time of all threads, and asks the one that used the most for its stack.
    func sampleThreads(of launch: RunningLaunch) {
        var sampling = launch.sampling ?? CPUSampling()
        if let thread = sampling.look(at: ThreadUse.all(of: launch.processes, limit: Self.sampledThreads)),
            let number = thread.innermostNumber
        {
            sampling.willAsk { maps.read(thread.process, of: launch.order.record.bundle.rawValue) }
            let asked = UInt64(number)
            launch.askedThreads[asked] = thread.thread
            if let frame = try? launch.encoder.encode(SampleMessage(thread: asked)) {
                launch.control?.send(frame)
            }
        }
        launch.sampling = sampling
    }

    /// Stores a stack that arrived; one that the host did not ask for is ignored.
    func took(_ message: StackMessage, _ launch: RunningLaunch) {
        launch.fatalMoment?.took(message)
        guard launch.fatalMoment == nil, let thread = launch.askedThreads[message.thread] else { return }
        launch.sampling?.took(message, ofThread: thread)
    }
}
