import LinuxSystem
import TaskModel

/// What the network is and costs, from NetworkManager.
///
/// It knows no low-data switch, so that `constrained` never comes from here; a connection that its user
/// marked as metered is `metered`. Numbers are those of NetworkManager's D-Bus types (NMState,
/// NMConnectivityState, NMMetered).
struct NetworkManagerSource: BusSource {
    static let manager = BusObject(
        path: "/org/freedesktop/NetworkManager", interface: "org.freedesktop.NetworkManager")

    let key = ConditionKey.network
    let name = "NetworkManager"
    let service = "org.freedesktop.NetworkManager"
    let objects = [NetworkManagerSource.manager]

    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer {
        guard let manager = properties[Self.manager], let state = manager["State"]?.integer else {
            return .failed
        }
        switch state {
        // Unknown, asleep or disconnected: links that it does not manage may be up all the same.
        case 0, 10, 20: return .elsewhere
        // Disconnecting, connecting, or connected without a default route.
        case ..<60: return .value(.network(.none))
        default: break
        }
        switch manager["Connectivity"]?.integer {
        // None at all, or a portal that answers everything. "Limited" (3) is a network without the Internet:
        // what is on it can be reached, and on many closed networks it stays so.
        case 1, 2: return .value(.network(.none))
        default: break
        }
        switch manager["Metered"]?.integer {
        // Yes, or a guess that it is.
        case 1, 3: return .value(.network(.metered))
        // No, a guess that it is not, or nothing known of it, as of a cable.
        case 0, 2, 4: return .value(.network(.unmetered))
        default: return .failed
        }
    }
}
