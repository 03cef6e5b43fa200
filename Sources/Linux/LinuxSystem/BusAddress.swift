/// Where the system bus is.
public enum BusAddress {
    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the standard socket.
    public static var system: String {
        ProcessFacts.environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// The path of an address's first socket file; `nil` if it has none.
    static func socketPath(of address: String) -> String? {
        for part in address.split(separator: ";") where part.hasPrefix("unix:") {
            for field in part.dropFirst(5).split(separator: ",") where field.hasPrefix("path=") {
                return String(field.dropFirst(5))
            }
        }
        return nil
    }
}
