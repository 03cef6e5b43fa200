/// Whether a process is stopped, and for which tracer, from /proc/PID/status.
public struct ProcessTracing: Equatable, Sendable {
    /// Whether SIGSTOP or a tracer has stopped it.
    public var isStopped: Bool
    /// Whether a debugger is attached.
    public var isTraced: Bool

    /// What holds for at least one of these processes; those that are gone hold nothing.
    public init(of processes: [Int32]) {
        isStopped = false
        isTraced = false
        for process in processes {
            guard let status = try? SmallFile.read("/proc/\(process)/status") else { continue }
            for line in status.split(separator: "\n") {
                let value = line.drop { $0 != "\t" }.drop { $0 == "\t" }
                if line.hasPrefix("State:") {
                    isStopped = isStopped || value.first == "T" || value.first == "t"
                }
                if line.hasPrefix("TracerPid:") { isTraced = isTraced || value != "0" }
            }
        }
    }
}
