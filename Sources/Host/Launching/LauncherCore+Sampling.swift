import LinuxSystem
import RunnerWire
import TaskModel

/// Where a launch that has spent half of its CPU quota spends it.
extension LauncherCore {
    /// Looks at what each thread has used, and asks the heaviest where it is.
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

    /// Asks the main thread of a launch that is about to be killed where it is.
    func askMainThread(of launch: RunningLaunch) {
        guard launch.life.stage == .expiring, let process = launch.handlerProcess,
            let frame = try? launch.encoder.encode(SampleMessage(thread: SampleMessage.mainThread))
        else { return }
        launch.mainThread = MainThreadStack(of: process)
        launch.control?.send(frame)
    }

    /// A stack has come; one that was not asked for is worth nothing.
    func took(_ message: StackMessage, _ launch: RunningLaunch) {
        if message.thread == SampleMessage.mainThread {
            launch.mainThread?.addresses = message.addresses
            return
        }
        guard let thread = launch.askedThreads[message.thread] else { return }
        launch.sampling?.took(message, ofThread: thread)
    }

    /// The report of a launch that spent its CPU quota, or was killed at its deadline; `nil` for any other.
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
