import RunnerWire
import TaskModel

/// Everything that the report of a launch's end needs; making the report reads files, and so takes time.
struct TerminationDraft: Sendable {
    /// How many open assertions a report lists.
    static let shownAssertions = 20

    let end: LaunchEnd
    /// When the launch ended, on CLOCK_MONOTONIC.
    let endedAt: Duration
    let moment: FatalMoment?
    let assertions: [OpenAssertion]
    let progress: TaskProgress?
    let progressAt: Duration?
    let stall: TerminationReport.Stall?
    let limits: [TerminationReport.Limit]
    /// The first lines of the report of a CPU limit, and the measurements; `nil` for other ends.
    let cpuLines: (head: String, sampling: CPUSampling?)?
    let wasKilledByKernel: Bool

    /// Reads the files of the code for the names of functions, and adds the report to the end.
    func finished() -> LaunchEnd {
        var end = end
        var names = moment?.names ?? CodeNames(map: nil)
        var lines: [String] = []
        if let cpuLines { lines = [cpuLines.head] + (cpuLines.sampling?.lines() ?? []) }
        if end.outcome == .killed, end.code == LaunchLife.deadlineCode, let moment {
            lines += moment.mainThreadLines(&names)
        }
        if !lines.isEmpty { end.report = ([end.report].compactMap(\.self) + lines).joined(separator: "\n") }
        end.termination = report(&names)
        return end
    }

    private func report(_ names: inout CodeNames) -> TerminationReport {
        var report = TerminationReport()
        let at = moment?.at ?? endedAt
        report.limits = limits
        report.stall = stall
        if let progress, let progressAt {
            report.lastProgress = .init(progress, ageSeconds: max(0, (at - progressAt).inSeconds))
        }
        if let moment {
            if case .crash(let crash) = moment.cause, let address = crash.address {
                report.faultAddress = "0x" + String(address, radix: 16)
            }
            (report.threads, report.furtherThreads) = moment.report(&names)
        }
        let sorted = assertions.sorted { $0.beganAt < $1.beganAt }
        report.assertions = sorted.prefix(Self.shownAssertions).map { assertion in
            let frames = names.frames(of: assertion.addresses).map(\.text)
            return .init(
                name: assertion.name, ageSeconds: max(0, (at - assertion.beganAt).inSeconds), frames: frames)
        }
        report.furtherAssertions = max(0, assertions.count - Self.shownAssertions)
        report.notes = notes
        return report
    }

    private var notes: [String] {
        if wasKilledByKernel { return ["The kernel killed it without warning, so there are no stacks."] }
        guard let moment else { return ["Its processes had ended before the host could look at them."] }
        return moment.hasStacks ? [] : ["No thread answered with its stack in time."]
    }
}

/// An assertion that a task has begun and not ended.
struct OpenAssertion: Equatable, Sendable {
    let name: String
    /// When it began, on CLOCK_MONOTONIC.
    let beganAt: Duration
    /// The return addresses of the code that began it, innermost first.
    let addresses: [UInt64]
}
