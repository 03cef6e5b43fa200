import Glibc
public import TaskModel

/// The machine's clocks.
public struct SystemClocks: MomentSource {
    /// Creates a reader, which has no state.
    public init() {}

    /// Reads CLOCK_BOOTTIME, CLOCK_MONOTONIC and CLOCK_REALTIME, in this order.
    public func now() -> Moment {
        Moment(
            boot: Self.read(CLOCK_BOOTTIME), monotonic: Self.read(CLOCK_MONOTONIC),
            wall: WallTime(sinceEpoch: Self.read(CLOCK_REALTIME)))
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        // This cannot fail: the clocks exist since Linux 2.6.39, and the pointer is valid.
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
