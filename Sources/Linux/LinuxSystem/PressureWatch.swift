import CLinuxShims
import Glibc
import TaskModel

/// An amount of waiting that counts as pressure (PSI: `Documentation/accounting/psi.rst` of the kernel).
public struct PressureTrigger: Sendable {
    /// The pressure file: `/proc/pressure/cpu`, for example, or `cpu.pressure` of a cgroup.
    public let path: String
    /// How long at least one task must have waited within ``window``.
    public let stall: Duration
    /// The length of the window: a multiple of 2 s, because other windows need privileges.
    public let window: Duration

    public init(path: String, stall: Duration, window: Duration) {
        self.path = path
        self.stall = stall
        self.window = window
    }
}

/// A thread that waits for the kernel to report pressure.
///
/// While there is pressure, the kernel reports it at most once per window. It never reports the end, so
/// pressure counts as ended when there was no report for a certain time. Without pressure, the thread sleeps.
public final class PressureWatch: Sendable {
    private let stop: CInt

    /// Sets the triggers and starts the thread.
    ///
    /// - Parameters:
    ///   - triggers: The triggers to report.
    ///   - hold: How long pressure lasts after the last report; longer than all windows.
    ///   - handler: Called on the thread after each change, with the indexes of the triggers that are under
    ///     pressure. `nil` means that the source is gone; then the handler is not called any more.
    /// - Throws: The `open` or `write` that failed: the file does not exist, or the kernel refuses the
    ///   trigger.
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

    /// Ends the thread; must be called only once.
    public func cancel() { lx_eventfd_signal(stop) }

    private static func open(_ trigger: PressureTrigger) throws(SystemCallError) -> CInt {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", trigger.path) {
                Glibc.open(trigger.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            })
        let number = file.rawValue
        let microseconds = { (time: Duration) in time.wholeNanoseconds / 1000 }
        // With the terminating zero byte, as in the kernel's example.
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
                // The thread closes the stop event itself, after it was signalled.
                return
            }
            let now = SystemClocks().now().boot
            for index in files.indices {
                if entries[index].revents & Int16(POLLERR) != 0 {
                    handler(nil)
                    // No more reports will come; the descriptors stay open until `cancel` is called.
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
