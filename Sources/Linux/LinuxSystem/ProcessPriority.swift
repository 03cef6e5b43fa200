import CLinuxShims
import Glibc
public import TaskModel

/// The priority of a process against others.
public enum ProcessPriority {
    /// Gives every thread of the processes this priority; threads and processes that they start later inherit
    /// it.
    ///
    /// A thread that ended meanwhile is passed over, and so is what this process may not do: without
    /// CAP_SYS_NICE a nice value only rises.
    ///
    /// - Parameters:
    ///   - priority: Its `cpuWeight` belongs to the group and is not set here.
    ///   - processes: Process numbers that were read a moment ago.
    public static func apply(_ priority: LaunchPriority, to processes: [Int32]) {
        for process in processes {
            for thread in SmallFile.directories(in: "/proc/\(process)/task").compactMap({ Int32($0) }) {
                lx_set_thread_priority(
                    thread, Int32(priority.nice), priority.isBatch ? 1 : 0, priority.ioClass == .idle ? 1 : 0)
            }
        }
    }
}
