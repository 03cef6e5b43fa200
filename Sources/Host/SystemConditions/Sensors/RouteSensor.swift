import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes; rtnetlink does not know what traffic costs.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        try? KernelNotices.routes(onNotice)
    }

    /// Whether this source alone can decide: "no route" is true at any cost.
    ///
    /// Only a better source knows whether a route is free of charge.
    func mayStandIn(with value: ConditionValue) -> Bool { value == .network(.none) }

    func read(at now: Moment) -> SensorAnswer {
        do {
            return .value(.network(try DefaultRoute.exists() ? .unmetered : .none))
        } catch {
            return .failed
        }
    }
}
