import CLinuxShims
import Glibc
public import TaskModel

/// Facts about this process: its user, its name, its directories.
public enum ProcessFacts {
    /// Whether it runs with all rights.
    public static var isRoot: Bool { geteuid() == 0 }

    /// This process's number in its PID namespace.
    public static var number: Int32 { getpid() }

    /// Whether standard error is a terminal.
    public static var hasTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// A variable of the environment; `nil` if it is unset or empty.
    public static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The directory of the running program's file.
    ///
    /// - Throws: The call that failed; without /proc there is no answer.
    public static func executableDirectory() throws(SystemCallError) -> String {
        let path = try DirectoryTree.realPath(of: "/proc/self/exe")
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Whether there is a file that may be run.
    public static func isExecutable(_ path: String) -> Bool {
        access(path, X_OK) == 0 && !DirectoryTree.isDirectory(path)
    }

    /// Writes text to standard error immediately.
    public static func writeToStandardError(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            // A terminal that went away must not stop the host.
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Keeps other users of the same uid out: no core dump, no ptrace, no reading of its memory.
    public static func forbidInspection() {
        lx_forbid_inspection()
    }

    /// How many seconds local time is ahead of UTC at a time; 0 where the zone is unknown.
    public static func localTimeOffset(at time: WallTime) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        // localtime_r need not read a changed zone again; tzset does.
        tzset()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }

    /// The time of day in the local time zone, `14:05:09`.
    public static func localTimeOfDay(secondsSinceEpoch: Int64) -> String {
        var seconds = time_t(secondsSinceEpoch)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "--:--:--" }
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}
