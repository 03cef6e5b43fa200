import RunnerWire
import TaskModel

/// What tasks learn about the machine, and what they say to their authors.
extension LauncherCore {
    /// The most words for its author that one launch may give; more are dropped, and the first that is says
    /// so.
    static let maximumAdvice = 100

    /// Sends a launch the conditions of the machine, unless it knows; one that was given nothing at its start
    /// is told nothing.
    func setConditions(_ id: LaunchID, _ conditions: HandlerConditions) {
        guard let launch = find(id), let before = launch.conditions, before != conditions else { return }
        launch.conditions = conditions
        // One that has not been asked for gets the newest with its start.
        guard launch.listens || launch.life.stage == .spawning, let control = launch.control,
            control.waitingBytes <= Self.maximumUnread,
            let frame = try? launch.encoder.encode(ConditionsMessage(conditions))
        else { return }
        control.send(frame)
    }

    func advise(_ message: AdviceMessage, _ launch: RunningLaunch) {
        launch.adviceCount += 1
        guard launch.adviceCount <= Self.maximumAdvice else {
            if launch.adviceCount == Self.maximumAdvice + 1 {
                tell(
                    .log(
                        launch.id, level: .warning,
                        message:
                            "it gave more than \(Self.maximumAdvice) pieces of advice; the rest is dropped",
                        subsystem: nil, category: nil))
            }
            return
        }
        tell(
            .advice(
                launch.id, code: OutputLines.harmless(message.code),
                message: OutputLines.harmless(message.message)))
    }

    func fault(_ message: FaultMessage, _ launch: RunningLaunch) {
        let fault = LaunchFault(
            word: OutputLines.harmless(message.code),
            text: message.message.split(separator: "\n").map { OutputLines.harmless(String($0)) }
                .joined(separator: "\n"))
        if !launch.hasFaulted { tell(.faulted(launch.id, fault)) }
        launch.hasFaulted = true
        handle(.fault(fault), launch)
    }
}
