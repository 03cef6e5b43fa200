import Glibc

/// What one thread of a process has used, from /proc.
public struct ThreadUse: Equatable, Sendable {
    /// The process, as this process's PID namespace numbers it.
    public let process: Int32
    /// The thread, in the same numbers.
    public let thread: Int32
    /// The name that it gave itself, at most 15 bytes.
    public let name: String
    /// CPU time since it began, user and system.
    public let cpuTime: Duration

    /// The threads of processes; those that are gone are left out.
    ///
    /// - Parameters:
    ///   - processes: Their numbers.
    ///   - limit: The most threads that are looked at.
    /// - Returns: One element a thread.
    public static func all(of processes: [Int32], limit: Int = 1024) -> [ThreadUse] {
        let ticks = Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
        var result: [ThreadUse] = []
        for process in processes {
            for name in SmallFile.directories(in: "/proc/\(process)/task") {
                guard result.count < limit else { return result }
                guard let thread = Int32(name),
                    let text = try? SmallFile.read("/proc/\(process)/task/\(name)/stat"),
                    let begin = text.firstIndex(of: "("), let end = text.lastIndex(of: ")")
                else { continue }
                let fields = text[text.index(after: end)...].split(separator: " ")
                guard fields.count > 12, let user = Int64(fields[11]), let system = Int64(fields[12]) else {
                    continue
                }
                result.append(
                    ThreadUse(
                        process: process, thread: thread,
                        name: String(text[text.index(after: begin)..<end]),
                        cpuTime: .milliseconds((user + system) * 1000 / ticks)))
            }
        }
        return result
    }

    /// The thread's number in its own, innermost PID namespace; `nil` if it is gone.
    public var innermostNumber: Int32? {
        guard let status = try? SmallFile.read("/proc/\(process)/task/\(thread)/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("NSpid:") })
        else { return nil }
        return line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last.flatMap { Int32($0) }
    }
}
