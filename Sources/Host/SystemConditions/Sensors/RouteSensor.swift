import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes; rtnetlink can't tell what traffic costs.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        try? KernelNotices.routes(onNotice)
    }

    /// That there is no route is true whatever it costs; that one is free only a better source can tell.
    func mayStandIn(with value: ConditionValue) -> Bool { value == .network(.none) }

    func read(at now: Moment) -> SensorAnswer {
        do {
            return .value(.network(try DefaultRoute.exists() ? .unmetered : .none))
        } catch {
            return .failed
        }
    }
}
