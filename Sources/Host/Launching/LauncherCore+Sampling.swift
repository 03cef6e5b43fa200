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

    /// A stack has come; one that was not asked for is worth nothing.
    func took(_ message: StackMessage, _ launch: RunningLaunch) {
        guard let thread = launch.askedThreads[message.thread] else { return }
        launch.sampling?.took(message, ofThread: thread)
    }

    /// The report of a launch that spent its CPU quota; `nil` for any other.
    func report(of launch: RunningLaunch) -> String? {
        guard launch.life.expiration == .cpuLimit, let head = launch.limitReport else { return nil }
        return ([head] + (launch.sampling?.lines() ?? [])).joined(separator: "\n")
    }
}
