import Synchronization
public import TaskModel

/// A clock that the test moves.
public final class VirtualMoments: MomentSource {
    private let moment: Mutex<Moment>

    public init(wallMilliseconds: Int64 = 1_800_000_000_000) {
        moment = Mutex(
            Moment(
                boot: .seconds(1000), monotonic: .seconds(1000),
                wall: WallTime(milliseconds: wallMilliseconds)))
    }

    public func now() -> Moment { moment.withLock { $0 } }

    /// Moves all three clocks.
    public func advance(by duration: Duration) {
        moment.withLock { $0 = $0.advanced(by: duration) }
    }

    /// Moves only the wall clock, as `date -s` does.
    public func jumpWallClock(by duration: Duration) {
        moment.withLock { $0.wall = $0.wall + duration }
    }

    /// Lets the machine sleep: boot time and wall time continue, and monotonic time stops.
    public func sleepMachine(for duration: Duration) {
        moment.withLock {
            $0.boot += duration
            $0.wall = $0.wall + duration
        }
    }
}
