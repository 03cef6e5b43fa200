/// When the host makes requests by itself: at most one timing, and any of the events as well.
public struct Schedule: Equatable, Hashable, Sendable, Codable {
    /// What gives the dates.
    public enum Timing: Equatable, Hashable, Sendable, Codable {
        /// A period after the identifier's last launch began.
        case every(Duration)
        /// A calendar expression, checked when the manifest was read, and the zone whose clocks it means;
        /// `nil` is the machine's own zone, whatever it is at each computation.
        case calendar(expression: String, timeZone: String?)
    }

    /// What gives the dates; `nil` where only events do.
    public var timing: Timing?
    /// How much later than its date a launch may come without being late.
    public var tolerance: Duration
    /// Whether external power that becomes connected makes a request.
    public var onPower = false
    /// Whether a network that comes into being makes a request.
    public var onNetwork = false
    /// Whether the first start of the host after each boot of the machine makes a request.
    public var onBoot = false
    /// A file or directory, an absolute path, whose change makes a request; `nil` means none.
    public var onFileChange: String?
    /// Whether its dates wake a suspended machine.
    public var wakesMachine = false

    public init(timing: Timing?, tolerance: Duration) {
        self.timing = timing
        self.tolerance = tolerance
    }

    /// Makes a schedule of a period.
    public init(every: Duration, tolerance: Duration) {
        self.init(timing: .every(every), tolerance: tolerance)
    }

    /// The period; `nil` where there is none.
    public var every: Duration? {
        if case .every(let period) = timing { period } else { nil }
    }

    /// Whether any event makes requests.
    public var hasEvents: Bool { onPower || onNetwork || onBoot || onFileChange != nil }

    /// `every 15m, on power`, `Mon..Fri 02:00 Europe/Berlin`.
    public var description: String {
        var parts: [String] = []
        switch timing {
        case .every(let period): parts.append("every \(DurationText.format(period))")
        case .calendar(let expression, let zone):
            parts.append(zone.map { "\(expression) \($0)" } ?? expression)
        case nil: break
        }
        if onPower { parts.append("on power") }
        if onNetwork { parts.append("on network") }
        if onBoot { parts.append("on boot") }
        if let onFileChange { parts.append("on change of \(onFileChange)") }
        return parts.joined(separator: ", ")
    }
}
