import CLinuxShims
import Glibc

/// What one thread does, from /proc.
public struct ThreadSight: Equatable, Sendable {
    /// The thread, with its CPU time.
    public let use: ThreadUse
    /// The number of the thread in its innermost PID namespace.
    public let innermostNumber: Int32
    /// What the kernel says about the thread: `running`, `sleeping`, `waiting for a device`, `stopped` or
    /// `ended`.
    public let state: String
    /// The system call that the thread is in, such as `futex`; `nil` if it is in none, or if access is not
    /// permitted.
    public let systemCall: String?
    /// The kernel's function in which the thread waits; `nil` if it does not wait or the kernel does not
    /// tell.
    public let waitChannel: String?

    /// Examines the threads of processes, without those that have ended.
    ///
    /// - Parameters:
    ///   - processes: The numbers of the processes.
    ///   - limit: The largest number of threads to examine.
    /// - Returns: One element per thread.
    public static func all(of processes: [Int32], limit: Int) -> [ThreadSight] {
        ThreadUse.all(of: processes, limit: limit).compactMap { use in
            guard let number = use.innermostNumber else { return nil }
            let folder = "/proc/\(use.process)/task/\(use.thread)/"
            return ThreadSight(
                use: use, innermostNumber: number, state: state(in: folder),
                systemCall: systemCall(in: folder), waitChannel: waitChannel(in: folder))
        }
    }

    private static func state(in folder: String) -> String {
        guard let text = try? SmallFile.read(folder + "stat"), let end = text.lastIndex(of: ")") else {
            return "ended"
        }
        switch text[text.index(after: end)...].first(where: { $0 != " " }) {
        case "R": return "running"
        case "D": return "waiting for a device"
        case "T", "t": return "stopped"
        case "Z", "X": return "ended"
        default: return "sleeping"
        }
    }

    private static func systemCall(in folder: String) -> String? {
        // For example: "202 0x7f... 0x80 ...", or "running" for a thread in user space.
        guard let text = try? SmallFile.read(folder + "syscall"),
            let number = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).first.flatMap({ Int($0) }),
            number >= 0
        else { return nil }
        return lx_system_call_name(number).map { String(cString: $0) } ?? "system call \(number)"
    }

    private static func waitChannel(in folder: String) -> String? {
        guard let text = try? SmallFile.read(folder + "wchan") else { return nil }
        let name = text.prefix { $0 != "\n" }
        return name.isEmpty || name == "0" ? nil : String(name)
    }
}
