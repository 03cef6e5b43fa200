import LinuxSystem
import TaskModel

/// The end of a launch that the kernel killed for want of memory, by what the memory controller counted in
/// its group.
enum MemoryEnd {
    /// Why the kernel killed it; `nil` if it did not, or if nothing counts it.
    ///
    /// - Parameters:
    ///   - before: The counts when the launch got its group, which others may have used before it.
    ///   - after: The counts at its end.
    ///   - limit: Its memory limit.
    /// - Returns: A sentence with the limit and, where it is known, the peak.
    static func finding(before: MemoryEvents?, after: MemoryEvents?, limit: ByteCount) -> String? {
        guard let after, after.kills > before?.kills ?? 0 else { return nil }
        // A peak that the group had before says nothing of this launch.
        let peak = after.peakBytes.flatMap { $0 > before?.peakBytes ?? 0 ? ByteCount(bytes: $0) : nil }
        let isOwnLimit = after.limitHits > before?.limitHits ?? 0
        let why =
            isOwnLimit
            ? "the kernel killed it at its memory limit of \(limit)"
            : "the kernel killed it because the machine or a group above ran out of memory; its own limit is \(limit)"
        return why + (peak.map { ", its peak was \($0)" } ?? "")
    }
}
