import CLinuxShims
import Glibc
public import TaskModel

/// Facts about this process: its user, its name, its directories.
public enum ProcessFacts {
    /// Whether this process runs as root.
    public static var isRoot: Bool { geteuid() == 0 }

    /// The number of the user with whose rights this process runs.
    public static var user: UInt32 { geteuid() }

    /// This process's number in its PID namespace.
    public static var number: Int32 { getpid() }

    /// Whether standard error is a terminal.
    public static var hasTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether this process belongs to a terminal, whose end then sends it a SIGHUP.
    public static var hasControllingTerminal: Bool {
        let number = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if number >= 0 { close(number) }
        return number >= 0
    }

    /// The value of an environment variable; `nil` if it is not set or empty.
    public static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The directory of the program that this process executes.
    ///
    /// - Throws: The call that failed, for example because there is no /proc.
    public static func executableDirectory() throws(SystemCallError) -> String {
        let path = try DirectoryTree.realPath(of: "/proc/self/exe")
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Whether the path is a file that may be executed.
    public static func isExecutable(_ path: String) -> Bool {
        access(path, X_OK) == 0 && !DirectoryTree.isDirectory(path)
    }

    /// Writes text to standard error without buffering; errors are ignored.
    public static func writeToStandardError(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            // A terminal that was closed must not stop the host.
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Forbids core dumps, and forbids other processes of the same user to attach with ptrace or read the
    /// memory.
    public static func forbidInspection() {
        lx_forbid_inspection()
    }

    /// How many seconds local time is ahead of UTC at a given time; 0 if the time zone is unknown.
    public static func localTimeOffset(at time: WallTime) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        // localtime_r may not notice that the time zone was changed, but tzset does.
        tzset()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }

    /// The time of day in the local time zone, such as `14:05:09`.
    public static func localTimeOfDay(secondsSinceEpoch: Int64) -> String {
        var seconds = time_t(secondsSinceEpoch)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "--:--:--" }
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}
