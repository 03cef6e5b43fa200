import CLinuxShims
import Glibc
public import TaskModel

/// One alarm on the boot clock and one on the wall clock, and word of a wall clock that was set.
///
/// Its thread sleeps in the kernel and wakes for nothing else, so an idle host stays idle. A suspended
/// machine is not woken: an alarm that passed in sleep comes at resume.
public final class WakeTimer: Sendable {
    private let boot: CInt
    private let wall: CInt
    private let stop: CInt

    /// One element for each alarm that came and each time that the wall clock was set.
    ///
    /// Ends with ``cancel()``.
    public let wakes: AsyncStream<Void>

    /// Makes the timers and starts the thread.
    ///
    /// - Throws: The system call that failed; descriptors may be exhausted.
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
        // The wall timer is set far from the present: only an armed timer reports that the clock was set.
        arm(wallAt: nil)
        BlockingThread.start(named: "bgtask-timer") {
            Self.watch(boot: bootDescriptor, wall: wallDescriptor, stop: stopDescriptor) {
                continuation.yield()
            }
            continuation.finish()
        }
    }

    /// Sets both alarms, replacing earlier ones.
    ///
    /// A time that has passed comes immediately; `nil` is never.
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

    /// Waits on the three descriptors until the stop event; owns and closes them.
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
                // ECANCELED means that the wall clock was set; that is a wake too.
                _ = read(timer.fd, &expirations, MemoryLayout<UInt64>.size)
            }
            wake()
        }
    }
}
