import LinuxSystem
import Synchronization

/// Measures the processes of a launch where the kernel does not.
///
/// To look at thousands of processes takes so long that the host's other work would wait, so this happens on
/// other threads: those of ``SurveyRound`` for launches that have few processes, and one for all others. So a
/// launch with very many processes delays only others of its kind.
final class LaunchSurvey: @unchecked Sendable {
    // Unchecked: only one queue at a time calls `look`, and the event loop calls `rests` only while none
    // does.
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
    /// The last measurement of a launch that has only one process and can't get more.
    private var rest: Rest?

    private struct Rest {
        let aims: Aims
        /// The CPU time of the process before the measurement.
        let cpuTime: Duration
        /// How often the launch has not been measured since then, because the process slept.
        var count = 0
    }

    /// How many measurements in a row are left out while the process sleeps: 29, so one is made every half
    /// minute.
    ///
    /// A process needs CPU time to get memory or threads, or to leave its group. But the kernel can join
    /// pages of a process that sleeps to larger ones (khugepaged), at most 16 MiB in 10 s on the whole
    /// machine by default.
    static let mostRests = 29

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
        rest = nil
        guard group != nil, !mayGrow else { return measure(aims, few: few) }
        let cpuTime = ProcessUsage.cpuClock(of: process)
        let finding = measure(aims, few: few)
        if finding != nil, groupMemory?.onlyProcess == process, cpuTime > .zero {
            rest = Rest(aims: aims, cpuTime: cpuTime)
        }
        return finding
    }

    /// Whether a measurement would find the same as the last one, because the only process has slept since
    /// then; takes less than a microsecond.
    ///
    /// Call it only while no thread measures the launch, and then leave the measurement out.
    func rests(_ aims: Aims) -> Bool {
        guard let rest, rest.aims == aims, rest.count < Self.mostRests,
            rest.cpuTime == ProcessUsage.cpuClock(of: process)
        else { return false }
        self.rest?.count += 1
        return true
    }

    private func measure(_ aims: Aims, few: Int) -> Finding? {
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
