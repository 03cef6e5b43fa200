import LinuxSystem
import TaskModel

/// The low-power switch: power-profiles-daemon's profile `power-saver`.
///
/// The daemon changed its bus name with version 0.20 and has both since; each name is a source of its own,
/// the new one first.
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
