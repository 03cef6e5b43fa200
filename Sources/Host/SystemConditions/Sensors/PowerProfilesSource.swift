import LinuxSystem
import TaskModel

/// The low-power setting: whether the profile of power-profiles-daemon is `power-saver`.
///
/// Version 0.20 of the daemon introduced a new bus name and kept the old one. Each name is a source; the new
/// name comes first.
struct PowerProfilesSource: BusSource {
    static let current = PowerProfilesSource(
        service: "org.freedesktop.UPower.PowerProfiles", path: "/org/freedesktop/UPower/PowerProfiles")
    static let former = PowerProfilesSource(
        service: "net.hadess.PowerProfiles", path: "/net/hadess/PowerProfiles")

    let key = ConditionKey.lowPower
    let name = "power-profiles-daemon"
    let service: String
    let objects: [BusObject]

    private init(service: String, path: String) {
        self.service = service
        objects = [BusObject(path: path, interface: service)]
    }

    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer {
        guard let profile = properties[objects[0]]?["ActiveProfile"]?.text else { return .failed }
        return .value(.lowPower(profile == "power-saver"))
    }
}
