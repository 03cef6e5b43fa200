import CLinuxShims
import Glibc
public import TaskModel

/// The priority of a process against others.
public enum ProcessPriority {
    /// Sets the priority of every thread of the processes; threads and processes that they start later
    /// inherit it.
    ///
    /// Threads that have ended are skipped, and so are settings that are not permitted: without CAP_SYS_NICE,
    /// a nice value can only increase.
    ///
    /// - Parameters:
    ///   - priority: The priority; its `cpuWeight` belongs to the control group and is not set here.
    ///   - processes: The numbers of the processes, read immediately before.
    public static func apply(_ priority: LaunchPriority, to processes: [Int32]) {
        for process in processes {
            for thread in SmallFile.directories(in: "/proc/\(process)/task").compactMap({ Int32($0) }) {
                lx_set_thread_priority(
                    thread, Int32(priority.nice), priority.isBatch ? 1 : 0, priority.ioClass == .idle ? 1 : 0)
            }
        }
    }
}
