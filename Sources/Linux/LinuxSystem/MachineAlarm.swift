import CLinuxShims
import Glibc
public import TaskModel

/// An alarm on the wall clock that wakes a suspended machine, for schedules with the option `wake`.
///
/// The machine's hardware clock wakes it, so the kernel requires the capability CAP_WAKE_ALARM. The host does
/// not wait for this alarm: after the machine has woken up, its ordinary timers fire (see ``WakeTimer``).
public final class MachineAlarm: Sendable {
    private let timer: OwnedDescriptor

    /// Creates the alarm; it is not set.
    ///
    /// - Throws: The `timerfd_create` that failed: `EPERM` without CAP_WAKE_ALARM.
    public init() throws(SystemCallError) {
        timer = OwnedDescriptor(
            taking: try retryingOnInterrupt("timerfd_create", "CLOCK_REALTIME_ALARM") {
                lx_timerfd_create(CLOCK_REALTIME_ALARM)
            })
    }

    /// Sets the alarm, and replaces an earlier one; `nil` disarms it.
    public func set(_ time: WallTime?) {
        lx_timerfd_settime(timer.rawValue, time.map { max($0.sinceEpoch.wholeNanoseconds, 1) } ?? 0, 0)
    }

    /// Whether the machine has a hardware clock (`/sys/class/rtc/rtc0`), without which nothing can wake it.
    ///
    /// Virtual machines and containers often have none. Whether the clock supports alarms is not checked.
    public static var isClockThere: Bool { access("/sys/class/rtc/rtc0", F_OK) == 0 }
}
