import RunnerWire
import TaskModel

/// Sends conditions to tasks, and receives their advice and faults.
extension LauncherCore {
    /// How many pieces of advice for the author of the handler one launch may give.
    ///
    /// The others are dropped. A warning is logged for the first dropped one.
    static let maximumAdvice = 100

    /// Sends the machine's conditions to a launch, unless it already has the same ones.
    ///
    /// A launch that got no conditions at its start never gets any.
    func setConditions(_ id: LaunchID, _ conditions: HandlerConditions) {
        guard let launch = find(id), let before = launch.conditions, before != conditions else { return }
        launch.conditions = conditions
        // A launch that has not been spawned yet gets the newest conditions with its start.
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
        // Only the first one counts.
        if launch.hasFaulted { return }
        let fault = LaunchFault(
            word: OutputLines.harmless(message.code),
            text: message.message.split(separator: "\n").map { OutputLines.harmless(String($0)) }
                .joined(separator: "\n"))
        tell(.faulted(launch.id, fault))
        launch.hasFaulted = true
        handle(.fault(fault), launch)
    }
}
