import TaskModel

/// Detects when external power or a network becomes available.
///
/// Only known values are compared; an unknown value in between is ignored.
struct ConditionEdges: Sendable {
    private var power: Bool?
    private var network: Bool?

    /// Updates the values; returns whether power or a network became available since the last known value.
    mutating func observe(_ conditions: Conditions) -> (power: Bool, network: Bool) {
        let came = (
            power: Self.update(&power, conditions.power.value.map(\.externalPower)),
            network: Self.update(&network, conditions.network.value.map { $0 != .none })
        )
        return came
    }

    /// Whether the last known values are equal to those in the conditions.
    func agree(with conditions: Conditions) -> Bool {
        power == conditions.power.value.map(\.externalPower)
            && network == conditions.network.value.map { $0 != .none }
    }

    /// Stores a known value; returns whether it changed from a known false to true.
    private static func update(_ known: inout Bool?, _ value: Bool?) -> Bool {
        guard let value else { return false }
        defer { known = value }
        return known == false && value
    }
}
