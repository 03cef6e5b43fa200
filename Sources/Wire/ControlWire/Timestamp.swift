public import TaskModel

/// A point in time as JSON contains it: `2026-11-21T02:45:08.123Z`, always in UTC and with milliseconds.
public struct Timestamp: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time.
    public let time: WallTime

    /// Wraps a time, rounded towards 1970 to a whole millisecond.
    public init(_ time: WallTime) {
        self.time = WallTime(milliseconds: time.milliseconds)
    }

    /// Parses an RFC 3339 time: a date, `T`, a time with or without seconds and a fraction, then `Z` or an
    /// offset.
    ///
    /// A date alone means midnight UTC. The result is `nil` for any other text, and for dates that do not
    /// exist.
    public init?(_ text: String) {
        var scanner = DateScanner(text)
        guard let time = scanner.scan() else { return nil }
        self.init(time)
    }

    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is not an RFC 3339 time"))
        }
        self = value
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }

    /// The form `2026-11-21T02:45:08.123Z`.
    public var description: String {
        let milliseconds = time.milliseconds
        let utc = CivilTime(second: milliseconds.floorDivided(by: 1000))
        let thousandths = String(milliseconds.floorRemainder(by: 1000) + 1000).dropFirst()
        return "\(utc.date)T\(utc.clock).\(thousandths)Z"
    }
}
