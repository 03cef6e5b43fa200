/// When the host makes requests by itself: at dates, after events, or both.
public struct Schedule: Equatable, Hashable, Sendable, Codable {
    /// A rule from which the dates follow.
    public enum Timing: Equatable, Hashable, Sendable, Codable {
        /// One date, a period after the identifier's last launch began.
        case every(Duration)
        /// The dates of a calendar expression in a time zone.
        ///
        /// The expression was checked when the manifest was read. A `nil` time zone selects the machine's own
        /// zone at the time of each computation.
        case calendar(expression: String, timeZone: String?)
    }

    /// A spread of the dates over the devices of a fleet.
    public struct Jitter: Equatable, Hashable, Sendable, Codable {
        /// The length of the spread.
        public var spread: Duration
        /// This device's place in the spread: 0 or more, and less than ``spread``; `nil` until the host has
        /// computed it.
        public var offset: Duration?

        public init(spread: Duration, offset: Duration? = nil) {
            self.spread = spread
            self.offset = offset
        }

        /// The place of a device in the spread.
        ///
        /// It depends on nothing else, so a device keeps it over restarts, and the tasks of one device have
        /// different places.
        ///
        /// - Parameters:
        ///   - device: A number that identifies the device.
        ///   - identifier: The task.
        /// - Returns: The offset, in whole seconds.
        public func offset(ofDevice device: UInt64, task identifier: TaskIdentifier) -> Duration {
            // FNV-1a over the name, and a round of SplitMix64 that mixes the device in.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in identifier.rawValue.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            var numbers = SeededNumbers(seed: device, part: hash)
            let length = UInt64(max(1, spread.components.seconds))
            return .seconds(Int64(numbers.next().multipliedFullWidth(by: length).high))
        }
    }

    /// The rule from which the dates follow; `nil` if only events make requests.
    public var timing: Timing?
    /// How long after its date a launch may still begin without being late.
    public var tolerance: Duration
    /// Whether the host makes a request when external power becomes connected.
    public var onPower = false
    /// Whether the host makes a request when a network becomes available.
    public var onNetwork = false
    /// Whether the host makes a request at its first start after each boot of the machine.
    public var onBoot = false
    /// The absolute path of a file or directory; a change of it makes a request.
    ///
    /// `nil` means none.
    public var onFileChange: String?
    /// Whether the host wakes a suspended machine at the dates.
    public var wakesMachine = false
    /// How far the dates are spread over the devices of a fleet; `nil` if they are not.
    public var jitter: Jitter?

    /// How much later than others this device begins; 0 without a jitter.
    public var offset: Duration { jitter?.offset ?? .zero }

    public init(timing: Timing?, tolerance: Duration) {
        self.timing = timing
        self.tolerance = tolerance
    }

    /// Makes a schedule with a fixed period.
    public init(every: Duration, tolerance: Duration) {
        self.init(timing: .every(every), tolerance: tolerance)
    }

    /// The period; `nil` if the schedule has none.
    public var every: Duration? {
        if case .every(let period) = timing { period } else { nil }
    }

    /// The date from which the next period counts, after a launch that began at a time.
    ///
    /// A launch that is late by at most 62 % of its period counts from its date, so that late launches do not
    /// make the period longer, and the task keeps its common wake-ups with others. After a later launch, and
    /// after one of a request with another origin (`scheduled` is `nil`), the period begins again. Our
    /// choice: budgets grow each quarter of an hour, so the limit must not be a multiple of 5 min for the
    /// usual periods (decisions 53, 68 and 80).
    public func base(of launch: WallTime, scheduled: WallTime?) -> WallTime {
        guard let scheduled, scheduled <= launch, let period = every, launch - scheduled <= period * 62 / 100
        else { return launch }
        return scheduled
    }

    /// Whether any event makes a request.
    public var hasEvents: Bool { onPower || onNetwork || onBoot || onFileChange != nil }

    /// The schedule in one line, such as `every 15m, on power` or `Mon..Fri 02:00 Europe/Berlin`.
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
        if let jitter {
            let offset = jitter.offset.map { " (\(DurationText.format($0)) on this device)" } ?? ""
            parts.append("jitter \(DurationText.format(jitter.spread))\(offset)")
        }
        return parts.joined(separator: ", ")
    }
}
