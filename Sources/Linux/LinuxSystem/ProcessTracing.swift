/// Whether a process is stopped or traced, from /proc/PID/status.
public struct ProcessTracing: Equatable, Sendable {
    /// Whether SIGSTOP or a tracer has stopped the process.
    public var isStopped: Bool
    /// Whether a debugger is attached to the process.
    public var isTraced: Bool

    /// Examines several processes: each property is true if it is true for at least one that still exists.
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
