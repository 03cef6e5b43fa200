import CLinuxShims
import Glibc
public import TaskModel

/// An alarm on the wall clock that wakes a suspended machine, for schedules that ask for it.
///
/// The machine's own clock chip wakes it, so the kernel asks for the capability CAP_WAKE_ALARM. Nothing waits
/// for this alarm: once awake, the machine's ordinary timers are due (``WakeTimer``).
public final class MachineAlarm: Sendable {
    private let timer: OwnedDescriptor

    /// Makes the alarm; it is not set.
    ///
    /// - Throws: `timerfd_create`: EPERM without CAP_WAKE_ALARM.
    public init() throws(SystemCallError) {
        timer = OwnedDescriptor(
            taking: try retryingOnInterrupt("timerfd_create", "CLOCK_REALTIME_ALARM") {
                lx_timerfd_create(CLOCK_REALTIME_ALARM)
            })
    }

    /// Sets the alarm, replacing an earlier one; `nil` is never.
    public func set(_ time: WallTime?) {
        lx_timerfd_settime(timer.rawValue, time.map { max($0.sinceEpoch.wholeNanoseconds, 1) } ?? 0, 0)
    }

    /// Whether the machine has a clock chip that could wake it; virtual machines and containers often have
    /// none.
    public static var isClockThere: Bool { access("/sys/class/rtc/rtc0", F_OK) == 0 }
}
