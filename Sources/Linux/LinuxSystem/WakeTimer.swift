import CLinuxShims
import Glibc
public import TaskModel

/// One alarm on CLOCK_BOOTTIME and one on the wall clock; it also reports that the wall clock was set.
///
/// The thread wakes up only for these, so an idle host stays idle. It does not wake a suspended machine: an
/// alarm whose time passes during sleep fires when the machine resumes.
public final class WakeTimer: Sendable {
    private let boot: CInt
    private let wall: CInt
    private let stop: CInt

    /// An element for each alarm and each time that the wall clock was set.
    ///
    /// Elements that were not read yet are combined into one. The stream ends after ``cancel()``.
    public let wakes: AsyncStream<Void>

    /// Creates the timers and starts the thread.
    ///
    /// - Throws: The system call that failed, for example because too many descriptors are open.
    public init() throws(SystemCallError) {
        let bootTimer = OwnedDescriptor(
            taking: try retryingOnInterrupt("timerfd_create", "CLOCK_BOOTTIME") {
                lx_timerfd_create(CLOCK_BOOTTIME)
            })
        let wallTimer = OwnedDescriptor(
            taking: try retryingOnInterrupt("timerfd_create", "CLOCK_REALTIME") {
                lx_timerfd_create(CLOCK_REALTIME)
            })
        let stopEvent = OwnedDescriptor(
            taking: try retryingOnInterrupt("eventfd", "timer stop") { lx_eventfd() })
        boot = bootTimer.release()
        wall = wallTimer.release()
        stop = stopEvent.release()
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wakes = stream
        let (bootDescriptor, wallDescriptor, stopDescriptor) = (boot, wall, stop)
        // Only an armed timer reports that the clock was set, so the wall timer is set to a time far in the
        // future.
        arm(wallAt: nil)
        BlockingThread.start(named: "bgtask-timer") {
            Self.watch(boot: bootDescriptor, wall: wallDescriptor, stop: stopDescriptor) {
                continuation.yield()
            }
            continuation.finish()
        }
    }

    /// Sets both alarms, and replaces earlier ones.
    ///
    /// An alarm in the past fires immediately; `nil` means that there is no alarm.
    public func set(bootAt: Duration?, wallAt: WallTime?) {
        let time = bootAt.map { max($0.wholeNanoseconds, 1) } ?? 0
        lx_timerfd_settime(boot, time, 0)
        arm(wallAt: wallAt)
    }

    /// Ends the thread and the stream.
    public func cancel() {
        lx_eventfd_signal(stop)
    }

    private func arm(wallAt: WallTime?) {
        let farAway: Int64 = 7_258_118_400 * 1_000_000_000  // the year 2200
        let time = wallAt.map { max($0.sinceEpoch.wholeNanoseconds, 1) } ?? farAway
        lx_timerfd_settime(wall, time, 1)
    }

    /// Waits on the three descriptors until the stop event, then closes them.
    private static func watch(boot: CInt, wall: CInt, stop: CInt, wake: () -> Void) {
        defer {
            for descriptor in [boot, wall, stop] { _ = close(descriptor) }
        }
        var polled = [boot, wall, stop].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            if poll(&polled, nfds_t(polled.count), -1) < 0 {
                if errno == EINTR { continue }
                return
            }
            if polled[2].revents != 0 { return }
            for timer in polled.prefix(2) where timer.revents != 0 {
                var expirations: UInt64 = 0
                // ECANCELED means that the wall clock was set, which is also reported.
                _ = read(timer.fd, &expirations, MemoryLayout<UInt64>.size)
            }
            wake()
        }
    }
}
