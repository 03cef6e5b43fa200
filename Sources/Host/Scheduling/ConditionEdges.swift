import TaskModel

/// Sees external power and networks come, among known values only: an unknown value in between is not a
/// change.
struct ConditionEdges: Sendable {
    private var power: Bool?
    private var network: Bool?

    /// Takes the newest conditions; true for what has come since the last known value.
    mutating func observe(_ conditions: Conditions) -> (power: Bool, network: Bool) {
        let came = (
            power: Self.update(&power, conditions.power.value.map(\.externalPower)),
            network: Self.update(&network, conditions.network.value.map { $0 != .none })
        )
        return came
    }

    /// Whether the last known values are those of now.
    func agree(with conditions: Conditions) -> Bool {
        power == conditions.power.value.map(\.externalPower)
            && network == conditions.network.value.map { $0 != .none }
    }

    /// The first known value is not a change.
    private static func update(_ known: inout Bool?, _ value: Bool?) -> Bool {
        guard let value else { return false }
        defer { known = value }
        return known == false && value
    }
}
