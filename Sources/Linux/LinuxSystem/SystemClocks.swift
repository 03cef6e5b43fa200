import Glibc
public import TaskModel

/// The machine's clocks.
public struct SystemClocks: MomentSource {
    /// Makes a reader; it holds nothing.
    public init() {}

    /// Reads CLOCK_BOOTTIME, CLOCK_MONOTONIC and CLOCK_REALTIME, in this order.
    public func now() -> Moment {
        Moment(
            boot: Self.read(CLOCK_BOOTTIME), monotonic: Self.read(CLOCK_MONOTONIC),
            wall: WallTime(sinceEpoch: Self.read(CLOCK_REALTIME)))
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        // Can't fail for these clocks: they exist since Linux 2.6.39 and the pointer is ours.
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
