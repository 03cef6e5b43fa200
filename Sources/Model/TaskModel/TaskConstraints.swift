/// The constraints of a task that only its manifest can state: `storage`, `battery`, `between`, `conflicts`
/// and `when`.
public struct TaskConstraints: Hashable, Sendable, Codable {
    /// The free space that a launch needs to start, on the file system of the data directories; `nil` if it
    /// needs none.
    public var storage: ByteCount?
    /// The charge that the battery must have without external power, in percent, 1 through 100; `nil` if any
    /// charge is enough.
    public var battery: Int?
    /// The part of the local day in which the task may run; `nil` means the whole day.
    public var between: DailyWindow?
    /// The tasks beside which this task never runs, and which never run beside it.
    public var conflicts: [IdentifierPattern]
    /// What must be true while the task runs; `nil` if there is no such expression.
    public var when: WhenExpression?

    /// Makes constraints from values that the caller has checked; by default, there are none.
    public init(
        storage: ByteCount? = nil, battery: Int? = nil, between: DailyWindow? = nil,
        conflicts: [IdentifierPattern] = [], when: WhenExpression? = nil
    ) {
        self.storage = storage
        self.battery = battery
        self.between = between
        self.conflicts = conflicts
        self.when = when
    }

    /// Whether the task has none of these constraints.
    public var isEmpty: Bool { self == TaskConstraints() }
}

/// A part of each local day: `between: [22:00, 06:00]`.
///
/// The window begins when the clock first shows its start, and ends when the clock last shows its end. So it
/// has no gap on the day when the clocks go back. A time that does not exist, because the clocks go forward,
/// counts as the first instant after it.
public struct DailyWindow: Hashable, Sendable, Codable {
    /// The minute of the day at which the window begins, 0 through 1439.
    public let start: Int
    /// The minute of the day at which the window ends, 0 through 1439; if it is before the start, the window
    /// lasts over midnight.
    public let end: Int

    /// Makes a window; `nil` if a minute is out of range, or if both are the same.
    public init?(start: Int, end: Int) {
        guard (0..<1440).contains(start), (0..<1440).contains(end), start != end else { return nil }
        self.start = start
        self.end = end
    }

    /// Decodes a window.
    ///
    /// - Throws: `DecodingError` if ``init(start:end:)`` would refuse the minutes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let (start, end) = (
            try values.decode(Int.self, forKey: .start), try values.decode(Int.self, forKey: .end)
        )
        guard let window = DailyWindow(start: start, end: end) else {
            throw DecodingError.dataCorruptedError(
                forKey: .start, in: values,
                debugDescription: "not a part of a day: from minute \(start) to minute \(end)")
        }
        self = window
    }

    /// The window as people write it: `22:00 to 06:00`.
    public var text: String { "\(Self.text(of: start)) to \(Self.text(of: end))" }

    /// A minute of the day as people write it: `06:00`.
    public static func text(of minute: Int) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// Reads a time of day in the form `22:00` or `6:30`.
    ///
    /// - Returns: The minute of the day; `nil` for any other text.
    public static func minute(of text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }
}

/// A change of the difference between local time and UTC, for example at the beginning of summer time.
public struct LocalTimeChange: Hashable, Sendable, Codable {
    /// When it happens.
    public var at: WallTime
    /// Local time minus UTC before it.
    public var before: Duration
    /// Local time minus UTC from then on.
    public var after: Duration

    /// Makes a change.
    public init(at: WallTime, before: Duration, after: Duration) {
        self.at = at
        self.before = before
        self.after = after
    }
}
