import CLinuxShims
import Glibc

/// The resources that processes use, read from /proc if no cgroup measures them.
public enum ProcessUsage {
    /// The resident memory of processes, in bytes.
    ///
    /// Processes that have ended count as 0. Pages that are shared with other processes or with files do not
    /// count, except for shared memory. Page tables and swapped pages count.
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
            let further = furtherMemory(of: pid)
            // File and shared pages do not count, because a clone shares most pages with its template.
            return sum + max(0, resident - shared) * page + further.shared + further.unmapped
        }
    }

    /// The memory of a process that `statm` does not show, in bytes.
    struct FurtherMemory: Equatable {
        /// The shared memory that is in no file of a disk: anonymous mappings, memory files and segments of
        /// System V.
        var shared: Int64 = 0
        /// The kernel's page tables for the process, and its swapped pages.
        ///
        /// A page that was only read, or was given back, needs a page table as long as its mapping exists.
        var unmapped: Int64 = 0

        /// Reads the numbers from the text of `/proc/PID/status`.
        init(status: String = "") {
            for line in status.utf8.split(separator: UInt8(ascii: "\n")) {
                switch line.first {
                case UInt8(ascii: "R"):
                    if let bytes = Self.bytes("RssShmem:", in: line) { shared = bytes }
                case UInt8(ascii: "V"):
                    unmapped += Self.bytes("VmPTE:", in: line) ?? Self.bytes("VmSwap:", in: line) ?? 0
                default: break
                }
            }
        }

        static func bytes(_ name: StaticString, in line: Substring.UTF8View) -> Int64? {
            let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            guard line.starts(with: name) else { return nil }
            let words = line.dropFirst(name.count).split {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")
            }
            return words.first.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }.map { $0 << 10 }
        }
    }

    /// The memory of a process that `statm` does not show.
    ///
    /// Of shared memory, each process counts its part of a page that several processes use, where this
    /// process may read that, and else the whole page. Empty for a process that has ended.
    static func furtherMemory(of process: Int32) -> FurtherMemory {
        let pid = lx_living_thread(process)
        guard let status = try? SmallFile.read("/proc/\(pid)/status") else { return FurtherMemory() }
        var memory = FurtherMemory(status: status)
        // The kernel walks through all pages of the process to find its part.
        guard memory.shared > 1 << 20, let text = try? SmallFile.read("/proc/\(pid)/smaps_rollup") else {
            return memory
        }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        if let part = lines.lazy.compactMap({ FurtherMemory.bytes("Pss_Shmem:", in: $0) }).first {
            memory.shared = part
        }
        return memory
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

    /// The CPU time of a process and its threads, without its children; zero if it is gone.
    public static func cpuClock(of process: Int32) -> Duration {
        var time = timespec()
        // The kernel's number for the clock of a process; `clock_getcpuclockid` makes one more call to check
        // it.
        guard clock_gettime(~process << 3 | 2, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The fields of /proc/PID/stat after the name, beginning with the state; `nil` if the process is gone.
    private static func statistics(of pid: Int32) -> [Substring]? {
        guard let text = try? SmallFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
