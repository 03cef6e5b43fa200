import CLinuxShims
import Glibc

/// The resources that processes use, read from /proc if no cgroup measures them.
public enum ProcessUsage {
    /// The resident memory of processes, in bytes.
    ///
    /// Processes that have ended count as 0. Pages that are shared with other processes or with files do not
    /// count, except for shared memory.
    public static func residentBytes(of processes: [Int32]) -> Int64 {
        let page = Int64(sysconf(CInt(_SC_PAGESIZE)))
        return processes.reduce(0) { sum, process in
            // After its first thread has ended, a process shows its memory only by another one.
            let pid = lx_living_thread(process)
            guard let text = try? SmallFile.read("/proc/\(pid)/statm") else { return sum }
            let fields = text.split(separator: " ")
            guard fields.count > 2, let resident = Int64(fields[1]), let shared = Int64(fields[2]) else {
                return sum
            }
            // File and shared pages do not count, because a clone shares most pages with its template.
            return sum + max(0, resident - shared) * page + sharedMemoryBytes(of: pid)
        }
    }

    /// The shared memory of a process that is in no file of a disk, in bytes: anonymous mappings, memory
    /// files and segments of System V.
    ///
    /// Each process counts its part of a page that several processes use, where this process may read that,
    /// and else the whole page. 0 for a process that has ended.
    static func sharedMemoryBytes(of process: Int32) -> Int64 {
        let pid = lx_living_thread(process)
        let mapped = kibibytes("RssShmem:", in: "/proc/\(pid)/status") ?? 0
        // The kernel walks through all pages of the process to find its part.
        guard mapped > 1024 else { return mapped << 10 }
        return (kibibytes("Pss_Shmem:", in: "/proc/\(pid)/smaps_rollup") ?? mapped) << 10
    }

    private static func kibibytes(_ name: String, in path: String) -> Int64? {
        guard let text = try? SmallFile.read(path),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return nil }
        return line.dropFirst(name.count).split { $0 == " " || $0 == "\t" }.first.flatMap { Int64($0) }
    }

    /// How many processes of one tree are looked at, unless a caller needs fewer: our choice, more than a
    /// launch may have.
    public static let most = 10_000

    /// A process and its descendants, sorted by number.
    ///
    /// A daemon whose ancestors have all ended is found only in a PID namespace, because it then becomes a
    /// child of the namespace's first process. To look at a process takes about 10 µs, so a caller that must
    /// not block names a small limit.
    ///
    /// - Parameters:
    ///   - root: The number of the process.
    ///   - most: How many processes are returned at most.
    /// - Returns: The numbers of the processes.
    public static func processes(below root: Int32, most: Int = most) -> [Int32] {
        tree(below: root, most: most).processes.sorted()
    }

    /// The descendants of a process.
    public static func descendants(of root: Int32) -> [Int32] {
        Array(tree(below: root, most: most).processes.dropFirst())
    }

    /// The number of threads of a process and its descendants; the count ends when it is above `limit`.
    public static func threadCount(below root: Int32, limit: Int) -> Int {
        tree(below: root, most: limit + 1, mostThreads: limit).threads
    }

    private static func tree(
        below root: Int32, most: Int, mostThreads: Int = .max
    ) -> (processes: [Int32], threads: Int) {
        var threads = mostThreads
        let processes = [Int32](unsafeUninitializedCapacity: most) { buffer, count in
            count = lx_descendants(root, buffer.baseAddress, most, &threads)
        }
        return (processes, threads)
    }

    /// The CPU time of processes, and of their children that were waited for.
    ///
    /// This is a lower bound of the time used by everything that the processes started.
    public static func cpuTime(of processes: [Int32]) -> Duration {
        let ticks = Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
        let sum = processes.reduce(Int64(0)) { sum, pid in
            guard let fields = statistics(of: pid), fields.count > 14 else { return sum }
            return sum + fields[11...14].reduce(0) { $0 + (Int64($1) ?? 0) }
        }
        return .milliseconds(sum * 1000 / ticks)
    }

    /// The fields of /proc/PID/stat after the name, beginning with the state; `nil` if the process is gone.
    private static func statistics(of pid: Int32) -> [Substring]? {
        guard let text = try? SmallFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
