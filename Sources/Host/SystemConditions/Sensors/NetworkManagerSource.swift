import LinuxSystem
import TaskModel

/// The network's state and cost, from NetworkManager.
///
/// NetworkManager has no low-data setting, so a setting of the host makes `constrained` of what it knows. A
/// connection that the user marked as metered is `metered`. The numbers are those of the D-Bus types NMState,
/// NMConnectivityState and NMMetered.
struct NetworkManagerSource: BusSource {
    static let manager = BusObject(
        path: "/org/freedesktop/NetworkManager", interface: "org.freedesktop.NetworkManager")

    let key = ConditionKey.network
    let name = "NetworkManager"
    let service = "org.freedesktop.NetworkManager"
    let objects = [NetworkManagerSource.manager]
    let lowData: LowDataMode

    init(lowData: LowDataMode = .never) { self.lowData = lowData }

    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer {
        guard let manager = properties[Self.manager], let state = manager["State"]?.integer else {
            return .failed
        }
        switch state {
        // Unknown, asleep or disconnected: interfaces that NetworkManager does not manage may still be up.
        case 0, 10, 20: return .elsewhere
        // Disconnecting, connecting, or connected without a default route.
        case ..<60: return .value(.network(.none))
        default: break
        }
        switch manager["Connectivity"]?.integer {
        // No connectivity, or a captive portal. "Limited" (3) is a network without the Internet: hosts in
        // this network can be reached, and on many closed networks this is the permanent state.
        case 1, 2: return .value(.network(.none))
        default: break
        }
        switch manager["Metered"]?.integer {
        // Metered, or probably metered.
        case let metered? where metered == 1 || metered == 3:
            return .value(.network(lowData.condition(of: .metered, isGuess: metered == 3)))
        // Not metered, probably not metered, or unknown, which is usual for a cable.
        case 0, 2, 4: return .value(.network(lowData.condition(of: .unmetered, isGuess: false)))
        default: return .failed
        }
    }
}
