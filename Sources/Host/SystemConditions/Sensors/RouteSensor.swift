import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes.
///
/// rtnetlink does not know whether a network is metered.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        try? KernelNotices.routes(onNotice)
    }

    /// Whether this value is reliable without a better source: only "no route" is.
    ///
    /// Only a better source knows whether a route is metered.
    func mayStandIn(with value: ConditionValue) -> Bool { value == .network(.none) }

    func read(at now: Moment) -> SensorAnswer {
        do {
            return .value(.network(try DefaultRoute.exists() ? .unmetered : .none))
        } catch {
            return .failed
        }
    }
}
