/// The address of the system bus.
public enum BusAddress {
    /// The address: `DBUS_SYSTEM_BUS_ADDRESS`, or else that of the standard socket.
    public static var system: String {
        ProcessFacts.environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// The address of the user's session bus: `DBUS_SESSION_BUS_ADDRESS`, or else that of the standard socket
    /// of systemd; `nil` if neither is known.
    public static var session: String? {
        if let address = ProcessFacts.environment("DBUS_SESSION_BUS_ADDRESS") { return address }
        return ProcessFacts.environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    }

    /// The path of the first socket file in an address; `nil` if it contains none.
    static func socketPath(of address: String) -> String? {
        for part in address.split(separator: ";") where part.hasPrefix("unix:") {
            for field in part.dropFirst(5).split(separator: ",") where field.hasPrefix("path=") {
                return String(field.dropFirst(5))
            }
        }
        return nil
    }
}
