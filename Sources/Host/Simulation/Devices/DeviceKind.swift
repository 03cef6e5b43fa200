/// A kind of device whose days can be generated.
///
/// The days are plausible inventions, drawn from a seed, and not based on measurements. If you have
/// recordings, replay those instead.
public enum DeviceKind: String, Sendable, CaseIterable, Codable {
    /// On the charger at night and in the office, on trains in between, asleep when closed.
    case laptop
    /// On mains power all day, used from morning to evening, never asleep.
    case kiosk
    /// Powered by a solar panel and a battery, on a metered network, warm at noon, without a user.
    case solarGateway
    /// Used often but briefly during the day, charged at night, on a metered network outside.
    case phone

    /// The description in the help of `bgtask simulate`.
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
