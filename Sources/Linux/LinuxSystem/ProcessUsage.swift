import Glibc

/// What processes use, read from /proc where no cgroup says it.
public enum ProcessUsage {
    /// Resident memory of processes, in bytes.
    ///
    /// Those that are gone count nothing. Pages that they share with others or with files do not count.
    public static func residentBytes(of processes: [Int32]) -> Int64 {
        let page = Int64(sysconf(CInt(_SC_PAGESIZE)))
        return processes.reduce(0) { sum, pid in
            guard let text = try? SmallFile.read("/proc/\(pid)/statm") else { return sum }
            let fields = text.split(separator: " ")
            guard fields.count > 2, let resident = Int64(fields[1]), let shared = Int64(fields[2]) else {
                return sum
            }
            // File and shared pages are not the task's own: a clone shares most with its template.
            return sum + max(0, resident - shared) * page
        }
    }

    /// The processes of a session: those that have not made one of their own.
    public static func processes(ofSession session: Int32) -> [Int32] {
        SmallFile.directories(in: "/proc").compactMap { name in
            guard let pid = Int32(name), let fields = statistics(of: pid), fields.count > 3 else {
                return nil
            }
            return Int32(fields[3]) == session ? pid : nil
        }
    }

    /// CPU time of processes and of those of their children that were waited for: a lower bound for what they
    /// started.
    public static func cpuTime(of processes: [Int32]) -> Duration {
        let ticks = Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
        let sum = processes.reduce(Int64(0)) { sum, pid in
            guard let fields = statistics(of: pid), fields.count > 14 else { return sum }
            return sum + fields[11...14].reduce(0) { $0 + (Int64($1) ?? 0) }
        }
        return .milliseconds(sum * 1000 / ticks)
    }

    /// The fields of /proc/PID/stat after the name, from the state on; `nil` if the process is gone.
    private static func statistics(of pid: Int32) -> [Substring]? {
        guard let text = try? SmallFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
