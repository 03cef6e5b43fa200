import LinuxSystem
import TaskModel

/// Whether there is a network, from the kernel's default routes.
///
/// rtnetlink does not know whether a network is metered.
struct RouteSensor: Sensor {
    let key = ConditionKey.network
    let source = "rtnetlink"
    let lowData: LowDataMode
    private let devices: NetworkDevices

    init(lowData: LowDataMode = .never, sysfsRoot: String = "/sys") {
        self.lowData = lowData
        devices = NetworkDevices(sysfsRoot: sysfsRoot)
    }

    /// The default routes of NetworkManager's connections are the kernel's, too, so this sensor also knows
    /// the devices when it does not decide on the condition.
    func interfaces() -> Set<NetworkInterface>? {
        // A failed read of the routes is told by read(at:), and then nothing is known of the devices.
        devices.kinds(of: (try? DefaultRoute.devices()) ?? [])
    }

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
