import LinuxSystem
import TaskModel

/// Judges the memory of a launch: what the host measured, and the counts of its cgroup if the kernel killed
/// it.
enum MemoryEnd {
    /// The memory with which a launch is not asked to stop, but killed, where only the host measures it.
    ///
    /// Our choice: twice the limit is no mistake in the last megabyte. The least distance of 64 MiB is for
    /// small limits, so that a task has room for the work of stopping.
    static func most(limit: ByteCount) -> ByteCount {
        max(ByteCount(bytes: limit.bytes * 2), ByteCount(bytes: limit.bytes + 64 << 20))
    }

    /// Why the kernel killed the launch; `nil` if it did not, or if the memory controller is not delegated.
    ///
    /// - Parameters:
    ///   - before: The counts when the launch entered the group, which earlier launches may have used.
    ///   - after: The counts at the end of the launch.
    ///   - limit: The memory limit of the launch.
    /// - Returns: A sentence with the limit and, if it is known, the peak.
    static func finding(before: MemoryEvents?, after: MemoryEvents?, limit: ByteCount) -> String? {
        guard let after, after.kills > before?.kills ?? 0 else { return nil }
        let peak = peak(before: before, after: after)
        let isOwnLimit = after.limitHits > before?.limitHits ?? 0
        let why =
            isOwnLimit
            ? "the kernel killed it at its memory limit of \(limit)"
            : "the kernel killed it because the machine or a parent cgroup ran out of memory; its own limit is \(limit)"
        return why + (peak.map { ", its peak was \($0)" } ?? "")
    }

    /// The peak of the launch as its group counted it; `nil` if it is not known.
    static func peak(before: MemoryEvents?, after: MemoryEvents?) -> ByteCount? {
        // If the peak has not risen, it is that of an earlier launch in this group.
        after?.peakBytes.flatMap { $0 > before?.peakBytes ?? 0 ? ByteCount(bytes: $0) : nil }
    }
}
