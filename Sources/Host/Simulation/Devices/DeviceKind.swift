/// A device whose days can be made up.
///
/// Ours: plausible days, drawn from a seed; they rest on no measurement. With recordings, replay those.
public enum DeviceKind: String, Sendable, CaseIterable, Codable {
    /// On a desk with the charger at night and in the office, on trains between, asleep when closed.
    case laptop
    /// On mains all day, in use from morning to evening, never asleep.
    case kiosk
    /// Fed by the sun into a battery, on a metered network, warm at noon, with no user.
    case solarGateway
    /// In use in short spells all day, charged at night, metered when out.
    case phone

    /// What `bgtask simulate --list` says of it.
    public var summary: String {
        switch self {
        case .laptop:
            "a commuter's laptop; it charges at home and in the office, and sleeps when closed"
        case .kiosk: "a kiosk on mains power; people use it from 8:00 to 20:00, and it never sleeps"
        case .solarGateway:
            "a gateway without users; the sun charges its battery, its network is metered, and it is warm at noon"
        case .phone:
            "a phone; its user often uses it briefly, charges it at night, and pays for the network outside"
        }
    }
}
