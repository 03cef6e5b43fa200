import Glibc

/// The resources that processes use, read from /proc if no cgroup measures them.
public enum ProcessUsage {
    /// The resident memory of processes, in bytes.
    ///
    /// Processes that have ended count as 0. Pages that are shared with other processes or with files do not
    /// count, except for shared memory.
    public static func residentBytes(of processes: [Int32]) -> Int64 {
        let page = Int64(sysconf(CInt(_SC_PAGESIZE)))
        return processes.reduce(0) { sum, pid in
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
    static func sharedMemoryBytes(of pid: Int32) -> Int64 {
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

    /// The descendants of a process, from its lists of children; cheaper than ``processes(below:)``, but
    /// without processes whose ancestors have ended.
    public static func descendants(of root: Int32) -> [Int32] {
        var (found, next): ([Int32], [Int32]) = ([], [root])
        // The limit is for a tree that grows faster than it is read.
        while let pid = next.popLast(), found.count < 10_000 {
            let text = (try? SmallFile.read("/proc/\(pid)/task/\(pid)/children")) ?? ""
            let children = text.split(separator: " ").compactMap { Int32($0) }
            found += children
            next += children
        }
        return found
    }

    /// A process, its descendants, and the other processes of its session.
    ///
    /// A daemon whose ancestors have all ended, and that has left the session, is found only in a PID
    /// namespace, because it then becomes a child of the namespace's first process.
    public static func processes(below root: Int32) -> [Int32] {
        var parents: [Int32: Int32] = [:]
        var found: Set<Int32> = [root]
        for name in SmallFile.directories(in: "/proc") {
            guard let pid = Int32(name), let fields = statistics(of: pid), fields.count > 3 else { continue }
            parents[pid] = Int32(fields[1])
            if Int32(fields[3]) == root { found.insert(pid) }
        }
        for pid in parents.keys {
            var path: [Int32] = []
            var ancestor = pid
            // A process number that is reused during the search could create a cycle.
            while !found.contains(ancestor), path.count < 64, let next = parents[ancestor] {
                path.append(ancestor)
                ancestor = next
            }
            if found.contains(ancestor) { found.formUnion(path) }
        }
        return found.sorted()
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
