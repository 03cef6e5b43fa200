import CLinuxShims
import Glibc
import TaskModel

/// A stall of tasks that counts as pressure (`Documentation/accounting/psi.rst` of the kernel).
public struct PressureTrigger: Sendable {
    /// `/proc/pressure/cpu`, or `cpu.pressure` of a cgroup.
    public let path: String
    /// How long some task must have waited within the window.
    public let stall: Duration
    /// A multiple of 2 s: ordinary users may ask for no other.
    public let window: Duration

    public init(path: String, stall: Duration, window: Duration) {
        self.path = path
        self.stall = stall
        self.window = window
    }
}

/// A thread that waits for the kernel to report pressure.
///
/// The kernel reports that there is pressure, at most once in a window, and never that it has ended. Pressure
/// ends when the kernel has not reported it for a while. Without pressure, the thread sleeps.
public final class PressureWatch: Sendable {
    private let stop: CInt

    /// Sets the triggers and starts the thread.
    ///
    /// - Parameters:
    ///   - triggers: The stalls to report.
    ///   - hold: How long pressure counts after the last report; longer than the windows.
    ///   - handler: Called on the thread with the indexes of the triggers under pressure, whenever they
    ///     change; `nil` when the source has gone, after which it is never called again.
    /// - Throws: `open` or `write`, where the kernel has no such file or refuses the trigger.
    public init(
        _ triggers: [PressureTrigger], hold: Duration, handler: @escaping @Sendable (Set<Int>?) -> Void
    ) throws(SystemCallError) {
        var files: [CInt] = []
        do {
            for trigger in triggers { files.append(try Self.open(trigger)) }
            stop = try retryingOnInterrupt("eventfd", "pressure") { lx_eventfd() }
        } catch {
            for file in files { _ = close(file) }
            throw error
        }
        let (opened, stopNumber) = (files, stop)
        BlockingThread.start(named: "bgtask-pressure") {
            Self.watch(opened, stop: stopNumber, hold: hold, handler)
            for number in opened + [stopNumber] { _ = close(number) }
        }
    }

    /// Ends the thread; call it once.
    public func cancel() { lx_eventfd_signal(stop) }

    private static func open(_ trigger: PressureTrigger) throws(SystemCallError) -> CInt {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", trigger.path) {
                Glibc.open(trigger.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            })
        let number = file.rawValue
        let microseconds = { (time: Duration) in time.wholeNanoseconds / 1000 }
        // With its closing zero, as the kernel's own example has it.
        let text = Array("some \(microseconds(trigger.stall)) \(microseconds(trigger.window))\0".utf8)
        try retryingOnInterrupt("write", trigger.path) { write(number, text, text.count) }
        return file.release()
    }

    private static func watch(
        _ files: [CInt], stop: CInt, hold: Duration, _ handler: (Set<Int>?) -> Void
    ) {
        var entries = files.map { pollfd(fd: $0, events: Int16(POLLPRI), revents: 0) }
        entries.append(pollfd(fd: stop, events: Int16(POLLIN), revents: 0))
        var endsAt: [Int: Duration] = [:]
        while true {
            let before = Set(endsAt.keys)
            let soonest = endsAt.values.min().map { $0 - SystemClocks().now().boot }
            let timeout = soonest.map { CInt(clamping: max(0, $0.wholeMilliseconds + 1)) } ?? -1
            if poll(&entries, nfds_t(entries.count), timeout) < 0 && errno != EINTR { return handler(nil) }
            if entries[files.count].revents != 0 {
                // The stop event is closed by this thread, after it was used.
                return
            }
            let now = SystemClocks().now().boot
            for index in files.indices {
                if entries[index].revents & Int16(POLLERR) != 0 {
                    handler(nil)
                    // Nothing more will come; the descriptors stay until `cancel`.
                    while poll(&entries[files.count], 1, -1) < 0 && errno == EINTR {}
                    return
                }
                if entries[index].revents & Int16(POLLPRI) != 0 { endsAt[index] = now + hold }
            }
            endsAt = endsAt.filter { $0.value > now }
            if Set(endsAt.keys) != before { handler(Set(endsAt.keys)) }
        }
    }
}
