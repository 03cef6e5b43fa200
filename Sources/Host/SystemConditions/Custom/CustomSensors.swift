import TaskModel

/// The sensors of conditions that files of `conditions.d` define.
enum CustomSensors {
    /// Makes a definition's sensor; nothing is read or run yet.
    static func make(_ definition: CustomCondition, _ onProblem: @escaping @Sendable (String) -> Void)
        -> any Sensor
    {
        let problems = ProblemTeller(name: definition.name, tell: onProblem)
        return switch definition.source {
        case .command(let command): CommandSensor(definition, command, problems)
        case .file(let path): FileSensor(definition, path: path, problems)
        }
    }

    /// What a value means for the condition; `failed` where the predicate can't be asked.
    static func answer(_ value: String, _ definition: CustomCondition, _ problems: ProblemTeller)
        -> SensorAnswer
    {
        guard let holds = definition.predicate.holds(value) else {
            problems.note("its value '\(value.prefix(60))' can't be compared; check its predicate")
            return .failed
        }
        problems.note(nil)
        return .value(.custom(holds))
    }
}
