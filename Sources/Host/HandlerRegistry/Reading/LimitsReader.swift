import StrictFiles
import TaskModel

/// Reads `limits:`.
///
/// A manifest can only lower the CPU limit. The other limits must be in fixed ranges.
struct LimitsReader {
    let kind: TaskKind
    let problems: ProblemList

    /// The standard limits of the kind, with the changes that the manifest makes.
    func limits(_ node: YAMLNode?) -> LaunchLimits {
        var limits = LaunchLimits.standard(for: kind)
        guard let node,
            let fields = Fields(
                node, "limits", keys: ["cpu", "memory", "storage", "runtime", "grace"], problems)
        else { return limits }
        if let cpu = fields["cpu"] { limits.cpu = self.cpu(cpu) ?? limits.cpu }
        if let memory = fields["memory"]?.size("memory", in: .mebibytes(8) ... .gibibytes(64), problems) {
            limits.memory = memory
        }
        limits.storage = fields["storage"]?.size("storage", in: .mebibytes(1) ... .gibibytes(4096), problems)
        let runtime = fields["runtime"]?.duration("runtime", in: .seconds(1) ... .seconds(3600), problems)
        let grace = fields["grace"]?.duration("grace", in: .milliseconds(100) ... .seconds(30), problems)
        limits.lease = Lease(
            duration: runtime ?? limits.lease.duration, gracePeriod: grace ?? limits.lease.gracePeriod)
        return limits
    }

    private func cpu(_ node: YAMLNode) -> CPULimit? {
        guard let fields = Fields(node, "cpu", keys: ["percent", "window"], problems) else { return nil }
        let standard = CPULimit.standard
        // A continued task has no CPU limit by default, so any limit lowers it.
        let highest = kind == .continuedProcessing ? 6400 : standard.percent
        let longest: Duration = kind == .continuedProcessing ? .seconds(3600) : standard.window
        let percent = fields["percent"].map { $0.integer("percent", in: 1...highest, problems) }
        let window = fields["window"].map { $0.duration("window", in: .seconds(1)...longest, problems) }
        return CPULimit(
            percent: (percent ?? nil) ?? standard.percent, window: (window ?? nil) ?? standard.window)
    }
}
