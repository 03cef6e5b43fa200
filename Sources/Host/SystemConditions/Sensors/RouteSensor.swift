import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes.
///
/// rtnetlink does not know whether a network is metered.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"
    let lowData: LowDataMode

    init(lowData: LowDataMode = .never) { self.lowData = lowData }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        try? KernelNotices.routes(onNotice)
    }

    /// Whether this value is reliable without a better source: "no route" is, and low-data mode, which the
    /// configuration then gives every network.
    ///
    /// Only a better source knows whether a route is metered.
    func mayStandIn(with value: ConditionValue) -> Bool { value != .network(.unmetered) }

    func read(at now: Moment) -> SensorAnswer {
        do {
            let found: NetworkCondition = try DefaultRoute.exists() ? .unmetered : .none
            return .value(.network(lowData.condition(of: found, isGuess: false)))
        } catch {
            return .failed
        }
    }
}
