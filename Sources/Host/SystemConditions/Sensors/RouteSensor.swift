import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes; rtnetlink can't tell what traffic costs.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> KernelNotices? {
        try? KernelNotices.routes(onNotice)
    }

    func read() -> SensorAnswer {
        do {
            return .value(.network(try DefaultRoute.exists() ? .unmetered : .none))
        } catch {
            return .failed
        }
    }
}
