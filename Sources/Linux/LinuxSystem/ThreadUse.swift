import Glibc

/// The CPU time of one thread of a process, from /proc.
public struct ThreadUse: Equatable, Sendable {
    /// The number of the process in the PID namespace of this process.
    public let process: Int32
    /// The number of the thread in the same namespace.
    public let thread: Int32
    /// The name of the thread, at most 15 bytes.
    public let name: String
    /// The CPU time since the thread began, user and system.
    public let cpuTime: Duration

    /// Lists the threads of processes, without those that have ended.
    ///
    /// - Parameters:
    ///   - processes: The numbers of the processes.
    ///   - limit: The largest number of threads to list.
    /// - Returns: One element per thread.
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

    /// The number of the thread in its innermost PID namespace; `nil` if the thread has ended.
    public var innermostNumber: Int32? {
        guard let status = try? SmallFile.read("/proc/\(process)/task/\(thread)/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("NSpid:") })
        else { return nil }
        return line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last.flatMap { Int32($0) }
    }
}
