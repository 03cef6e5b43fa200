import CLinuxShims
import Glibc

/// The CPU time of a process and of all processes that it starts after a moment.
///
/// /proc loses the time of a child whose parent ignores SIGCHLD, and a cgroup loses that of a process that
/// moves itself to another one. The kernel's counter loses neither. A kernel may refuse it: to users other
/// than root, if /proc/sys/kernel/perf_event_paranoid is above 2, and in most containers.
public struct InheritedClock: ~Copyable, Sendable {
    /// The descriptors of the counters, one for each thread.
    private let counters: [CInt]

    /// Counts the threads of a process, and everything that they start.
    ///
    /// The initializer fails if the kernel refuses the counter, or the process has ended.
    ///
    /// - Parameter process: The process; only its first 8 threads are counted, because each needs a
    ///   descriptor. A new task has fewer.
    public init?(of process: Int32) {
        var counters: [CInt] = []
        for name in SmallFile.directories(in: "/proc/\(process)/task").prefix(8) {
            guard let thread = Int32(name) else { continue }
            let counter = lx_open_inherited_clock(thread)
            if counter >= 0 { counters.append(counter) }
        }
        self.counters = counters
        if counters.isEmpty { return nil }
    }

    /// Takes a counter that another process opened.
    public init(taking counter: CInt) { counters = [counter] }

    deinit { for counter in counters { _ = close(counter) } }

    /// The CPU time since this value was created, of ended processes, too.
    public func elapsed() -> Duration {
        var sum: UInt64 = 0
        for counter in counters {
            var nanoseconds: UInt64 = 0
            if read(counter, &nanoseconds, 8) == 8 { sum += nanoseconds }
        }
        return .nanoseconds(Int64(clamping: sum))
    }
}
