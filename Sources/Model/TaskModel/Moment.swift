/// A point on the wall clock: time since 1970-01-01 00:00 UTC.
public struct WallTime: Hashable, Comparable, Sendable, Codable {
    /// Time since the epoch; negative before it.
    public var sinceEpoch: Duration

    /// Makes a point on the wall clock.
    public init(sinceEpoch: Duration) {
        self.sinceEpoch = sinceEpoch
    }

    /// Makes a point from milliseconds since the epoch, as the store and the wire carry it.
    public init(milliseconds: Int64) {
        sinceEpoch = .milliseconds(milliseconds)
    }

    /// Milliseconds since the epoch, rounded towards zero.
    public var milliseconds: Int64 { sinceEpoch.wholeMilliseconds }

    /// The point as the store and the wire give it back: without anything below a millisecond.
    public var rounded: Self { Self(milliseconds: milliseconds) }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.sinceEpoch < right.sinceEpoch }
    /// Moves the point.
    public static func + (left: Self, right: Duration) -> Self { Self(sinceEpoch: left.sinceEpoch + right) }
    /// The time between two points.
    public static func - (left: Self, right: Self) -> Duration { left.sinceEpoch - right.sinceEpoch }
}

/// One instant on the three clocks that the rules use.
///
/// Leases count `boot` (CLOCK_BOOTTIME: sleep included), grace periods and the CPU window count `monotonic`
/// (CLOCK_MONOTONIC: stops in sleep), dates are on `wall` (CLOCK_REALTIME: may jump).
public struct Moment: Hashable, Sendable, Codable {
    /// CLOCK_BOOTTIME.
    public var boot: Duration
    /// CLOCK_MONOTONIC.
    public var monotonic: Duration
    /// CLOCK_REALTIME.
    public var wall: WallTime

    /// Makes an instant from three readings.
    public init(boot: Duration, monotonic: Duration, wall: WallTime) {
        self.boot = boot
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The instant that follows when all three clocks run on by the same time.
    public func advanced(by duration: Duration) -> Self {
        Self(boot: boot + duration, monotonic: monotonic + duration, wall: wall + duration)
    }
}

/// Where "now" comes from: the machine's clocks in the host, a virtual one in tests and replays.
public protocol MomentSource: Sendable {
    /// Reads the three clocks.
    func now() -> Moment
}

extension Duration {
    /// Whole nanoseconds, saturating at the range of `Int64` (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product + attoseconds / 1_000_000_000_000_000
    }

    /// Seconds as a floating-point number, for display and rates.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
