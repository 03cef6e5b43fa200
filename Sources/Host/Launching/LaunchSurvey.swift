import LinuxSystem
import Synchronization

/// Measures the processes of a launch where the kernel does not.
///
/// To look at thousands of processes takes so long that the host's other work would wait, so this happens on
/// other threads: those of ``SurveyRound`` for launches that have few processes, and one for all others. So a
/// launch with very many processes delays only others of its kind.
final class LaunchSurvey: @unchecked Sendable {
    // Unchecked: only one queue at a time calls `look`.
    /// A launch with more processes than these is measured on the queue of the crowded ones: our choice, a
    /// few milliseconds of work.
    static let fewProcesses = 256

    /// What is measured.
    struct Aims: Equatable, Sendable {
        /// Whether no controller counts the memory.
        var measuresMemory = false
        /// Whether a process could move itself to another cgroup.
        var looksForStrays = false
        /// How many processes and threads the launch may have; `nil` if the kernel limits them.
        var mostThreads: Int?
    }

    /// What was found.
    struct Finding: Equatable, Sendable {
        /// The resident memory; `nil` if it was not measured.
        var memory: Int64?
        /// The CPU time of the processes that exist, of a launch without a group.
        var cpuTime: Duration?
        /// The number of these processes.
        var processes = 0
        /// A process that has left the group of the launch.
        var stray: Int32?
        /// The number of processes and threads; 0 if they were not counted.
        var threads = 0
    }

    private let group: ControlGroup?
    private let process: Int32
    /// Whether the launch can have processes besides that of its task.
    private let mayGrow: Bool
    /// Reads the memory of the group; created at the first measurement.
    private var groupMemory: GroupMemory?
    /// Since when a thread measures the launch, on CLOCK_MONOTONIC; `nil` if none does.
    ///
    /// The event loop reads it.
    let began = Mutex<Duration?>(nil)
    /// The last measurement of a launch whose only process has slept since then.
    private var rest: Rest?

    private struct Rest {
        let aims: Aims
        let finding: Finding
        /// The CPU time of the process before the measurement.
        let cpuTime: Duration
        /// How often the finding was used again.
        var uses = 0
    }

    /// How often a measurement is used again while the process sleeps: 9 times, so every tenth is made.
    ///
    /// A process needs CPU time to get memory or threads, or to leave its group. But the kernel can join
    /// pages of a process that sleeps to a larger one (khugepaged), which takes up to 2 MiB.
    static let mostUses = 9
    /// How often the launch was measured, for tests.
    private(set) var measurements = 0

    init(group: ControlGroup?, process: Int32, mayGrow: Bool) {
        (self.group, self.process, self.mayGrow) = (group, process, mayGrow)
    }

    /// Measures now; blocks for up to a second if there are very many processes.
    ///
    /// - Parameters:
    ///   - aims: What to measure.
    ///   - few: How many processes are looked at.
    /// - Returns: What was found; `nil` if there are more processes than `few`, and so little was measured.
    func look(_ aims: Aims, few: Int) -> Finding? {
        guard group != nil, !mayGrow else { return measure(aims, few: few) }
        let cpuTime = ProcessUsage.cpuClock(of: process)
        if let rest, rest.aims == aims, rest.cpuTime == cpuTime, rest.uses < Self.mostUses {
            self.rest?.uses += 1
            return rest.finding
        }
        let finding = measure(aims, few: few)
        rest =
            groupMemory?.onlyProcess == process && cpuTime > .zero
            ? finding.map { Rest(aims: aims, finding: $0, cpuTime: cpuTime) } : nil
        return finding
    }

    private func measure(_ aims: Aims, few: Int) -> Finding? {
        measurements += 1
        var finding = Finding()
        if let most = aims.mostThreads {
            finding.threads =
                group?.threadCount(upTo: most) ?? ProcessUsage.threadCount(below: process, limit: most)
            // It will be killed for this number, so its memory does not matter.
            if finding.threads > most { return finding }
        }
        if aims.looksForStrays, let group {
            let below = ProcessUsage.processes(below: process, most: few + 1)
            if below.count > few { return nil }
            finding.stray = below.first { $0 != process && !group.mayContain($0) }
        }
        guard let group else {
            let processes = ProcessUsage.processes(below: process, most: few + 1)
            if processes.count > few { return nil }
            if aims.measuresMemory { finding.memory = ProcessUsage.residentBytes(of: processes) }
            finding.cpuTime = ProcessUsage.cpuTime(of: processes)
            finding.processes = processes.count
            return finding
        }
        guard aims.measuresMemory else { return finding }
        // Of a launch that can't leave its group, nothing has counted the processes yet.
        if !aims.looksForStrays, mayGrow, group.processes(most: few + 1).count > few { return nil }
        if groupMemory == nil { groupMemory = try? GroupMemory(of: group, mayGrow: mayGrow) }
        finding.memory = groupMemory?.residentBytes() ?? ProcessUsage.residentBytes(of: group.processes)
        return finding
    }
}
