import LinuxSystem
import Synchronization
import TaskModel

/// Reads a custom condition from a program that runs periodically.
final class CommandSensor: Sensor {
    let key: ConditionKey
    let source: String
    private let definition: CustomCondition
    private let command: ConditionCommand
    private let problems: ProblemTeller
    private let newest = Mutex(SensorAnswer.pending)

    init(_ definition: CustomCondition, _ command: ConditionCommand, _ problems: ProblemTeller) {
        key = .custom(definition.name)
        source = command.arguments.first ?? "command"
        self.definition = definition
        self.command = command
        self.problems = problems
    }

    /// The result of the newest run; `pending` before the first run has ended.
    func read(at now: Moment) -> SensorAnswer { newest.withLock { $0 } }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        do {
            return try RepeatedCommand(
                command.arguments, interval: command.interval, timeout: command.timeout
            ) { [self] result in
                let answer = answer(result)
                newest.withLock { $0 = answer }
                onNotice(.changed)
            }
        } catch {
            problems.note("\(error)")
            newest.withLock { $0 = .failed }
            return nil
        }
    }

    private func answer(_ result: RepeatedCommand.Result) -> SensorAnswer {
        switch (result, command.value) {
        case (.exited(let status, _), .exitStatus):
            return CustomSensors.answer("\(status)", definition, problems)
        case (.exited(0, let line), .firstLine): return CustomSensors.answer(line, definition, problems)
        case (.exited(let status, _), .firstLine): problems.note("\(source) ended with status \(status)")
        case (.signalled(let signal), _): problems.note("signal \(signal) ended \(source)")
        case (.timedOut, _):
            problems.note(
                "\(source) did not end within \(DurationText.format(command.timeout)) and was killed")
        case (.notStarted(let error), _): problems.note("\(error)")
        }
        return .failed
    }
}

extension RepeatedCommand: SensorWatch {}
