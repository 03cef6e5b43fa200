import TaskModel

/// Creates the sensors of the conditions that files in `conditions.d` define.
enum CustomSensors {
    /// Creates the sensor of a definition; nothing is read or run yet.
    static func make(_ definition: CustomCondition, _ onProblem: @escaping @Sendable (String) -> Void)
        -> any Sensor
    {
        let problems = ProblemTeller(name: definition.name, tell: onProblem)
        return switch definition.source {
        case .command(let command): CommandSensor(definition, command, problems)
        case .file(let path): FileSensor(definition, path: path, problems)
        }
    }

    /// Applies the predicate to a value; `failed` if the two can't be compared.
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
