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
            "a laptop commuter: charger at home and in the office, trains between, asleep when closed"
        case .kiosk: "a kiosk: mains power, used from 8:00 to 20:00, never asleep"
        case .solarGateway:
            "a solar gateway: battery filled by the sun, metered network, warm at noon, no user"
        case .phone: "a phone: short uses all day, charged at night, metered when out"
        }
    }
}
