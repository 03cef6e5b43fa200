import TaskModel

/// The facts for which a request waits whose `when` is not true.
///
/// Requests with different values in their payloads can have any number of different expressions, so there
/// can be more of them than groups (``PendingIndex``), and each is judged alone. A condition that none of its
/// tests reads must not cost time for each of them.
extension Situation {
    /// The facts of which one must change before an expression can become true, without the clock.
    ///
    /// If one fact alone keeps the expression from being true, it is enough to wait for this one. Otherwise,
    /// these are all facts that the expression reads.
    func facts(awaitedBy expression: WhenExpression, at time: WallTime) -> [Fact] {
        var all: [Fact] = []
        for read in expression.tests.map(\.fact) {
            guard let fact = Self.fact(of: read), !all.contains(fact) else { continue }
            let isEnough = expression.value { $0 == read ? value(of: $0, at: time) : nil } == false
            if isEnough { return [fact] }
            all.append(fact)
        }
        // An expression without such facts waits for the clock, or for nothing.
        return all.isEmpty ? [.conditions] : all
    }

    /// The fact that changes with the value of a test; `nil` for the clock and the payload.
    private static func fact(of read: WhenFact) -> Fact? {
        switch read {
        case .condition(let name): .condition(name)
        case .payload: nil
        case .machine(let fact):
            switch fact {
            case .battery, .charging: .charge
            case .externalPower: .externalPower
            case .lowPower: .lowPowerMode
            case .network: .network
            case .thermal: .thermal
            case .idle: .user
            case .cpuPressure, .memoryPressure, .ioPressure: .pressure
            case .gpu: .gpu
            case .storage: .storage
            case .hour, .weekday: nil
            }
        }
    }
}
