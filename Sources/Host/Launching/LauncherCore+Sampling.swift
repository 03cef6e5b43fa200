import LinuxSystem
import RunnerWire
import TaskModel

/// Finds out what a launch does that has used half of its CPU quota.
extension LauncherCore {
    /// Measures the CPU time of all threads, and asks the one that used the most for its stack.
    func sampleThreads(of launch: RunningLaunch) {
        var sampling = launch.sampling ?? CPUSampling()
        if let thread = sampling.look(at: ThreadUse.all(of: launch.processes)),
            let number = thread.innermostNumber
        {
            sampling.willAsk(thread.process)
            let asked = UInt64(number)
            launch.askedThreads[asked] = thread.thread
            if let frame = try? launch.encoder.encode(SampleMessage(thread: asked)) {
                launch.control?.send(frame)
            }
        }
        launch.sampling = sampling
    }

    /// Asks the main thread of a launch for its stack, shortly before the launch is killed.
    func askMainThread(of launch: RunningLaunch) {
        guard launch.life.stage == .expiring, let process = launch.handlerProcess,
            let frame = try? launch.encoder.encode(SampleMessage(thread: SampleMessage.mainThread))
        else { return }
        launch.mainThread = MainThreadStack(of: process)
        launch.control?.send(frame)
    }

    /// Stores a stack that arrived; one that the host did not ask for is ignored.
    func took(_ message: StackMessage, _ launch: RunningLaunch) {
        if message.thread == SampleMessage.mainThread {
            launch.mainThread?.addresses = message.addresses
            return
        }
        guard let thread = launch.askedThreads[message.thread] else { return }
        launch.sampling?.took(message, ofThread: thread)
    }

    /// The report of a launch that used up its CPU quota or was killed at its deadline; `nil` for other
    /// launches.
    func report(of launch: RunningLaunch, _ end: LaunchEnd) -> String? {
        var lines: [String] = []
        if launch.life.expiration == .cpuLimit, let head = launch.limitReport {
            lines = [head] + (launch.sampling?.lines() ?? [])
        }
        if end.outcome == .killed, end.code == LaunchLife.deadlineCode {
            lines += launch.mainThread?.lines() ?? []
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}
