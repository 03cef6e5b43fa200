import ControlWire
import TaskModel

/// A termination report as lines of text.
struct TerminationText {
    /// The lines, without line breaks.
    private(set) var lines: [String] = []
    private let style: Style

    init(_ message: TerminationMessage, style: Style, clock: LogClock) {
        self.style = style
        addHead(message.launch)
        if let report = message.termination {
            add(report)
        } else if message.launch.state == .ended {
            section("There is no report: this end needs none, or an older host recorded the launch")
        } else {
            section("The launch has not ended yet. To see what it does: bgtask show \(message.launch.launch)")
        }
        if let text = message.launch.report {
            section("measurements")
            for line in text.split(separator: "\n") { add("  " + line) }
        }
        lines += CallsText.lines(message.calls)
        if !message.lines.isEmpty {
            section("last lines")
            for line in message.lines {
                lines.append("  " + LogText.line(line, style: style, inLaunch: true, clock: clock))
            }
        }
    }

    private mutating func add(_ line: some StringProtocol) { lines.append(Printable.text(String(line))) }

    private mutating func section(_ title: String) {
        lines.append("")
        add(title)
    }

    private mutating func addHead(_ launch: LaunchMessage) {
        add(
            "\(launch.launch)  \(launch.identifier), attempt \(launch.attempt) of request \(launch.request), "
                + "after \(Wording.duration((launch.endedAt ?? launch.startedAt).time - launch.startedAt.time))"
        )
        let words = [
            launch.outcome?.rawValue ?? launch.state.rawValue, launch.reason?.rawValue, launch.code,
            launch.signal.map { "signal \($0)" },
            launch.exitStatus.flatMap { $0 == 0 ? nil : "exit status \($0)" },
            launch.phase == .load ? "while it was loaded" : nil,
        ]
        let text = Printable.text(words.compactMap(\.self).joined(separator: ", "))
        lines.append(style.outcome(launch.outcome, text))
        if let message = launch.message { add(message) }
    }

    private mutating func add(_ report: TerminationReport) {
        for limit in report.limits {
            add("limit: \(limit.name) \(limit.limit)" + (limit.used.map { "; used: \($0)" } ?? ""))
        }
        if let address = report.faultAddress { add("address: \(address)") }
        if let stall = report.stall { add(Self.text(stall)) }
        if let last = report.lastProgress {
            let progress = ProgressMessage(
                TaskProgress(completed: last.completed, total: last.total, message: last.message))
            let age = Wording.seconds(last.ageSeconds)
            add("last progress: \(Wording.progress(progress)), \(age) before the host examined it")
        }
        for note in report.notes { add(note) }
        if !report.threads.isEmpty { section("threads") }
        for thread in report.threads {
            add("  " + Self.text(thread))
            for frame in thread.frames { add("    " + frame) }
        }
        if report.furtherThreads > 0 { add("  and \(report.furtherThreads) more") }
        if !report.assertions.isEmpty { section("open assertions") }
        for assertion in report.assertions {
            add("  \(assertion.name), for \(Wording.seconds(assertion.ageSeconds)), begun by")
            for frame in assertion.frames { add("    " + frame) }
        }
        if report.furtherAssertions > 0 { add("  and \(report.furtherAssertions) more") }
    }

    /// For example `4711 worker (fatal signal): 1.2 s of CPU time, sleeping in futex`.
    private static func text(_ thread: TerminationReport.Thread) -> String {
        let place = thread.systemCall ?? thread.waitChannel
        return "\(thread.number) \(thread.name)" + (thread.isFatal ? " (fatal signal)" : "")
            + ": \(Wording.seconds(thread.cpuSeconds)) of CPU time, \(thread.state)"
            + (place.map { " in \($0)" } ?? "")
    }

    private static func text(_ stall: TerminationReport.Stall) -> String {
        let word = stall.verdict == .stuck ? "stuck: it waited" : "slow: it worked"
        let rate = stall.unitsPerMinute.map { rate in
            let tenths = Int64((rate * 10).rounded())
            return "; until then, it made \(tenths / 10).\(abs(tenths % 10)) units per minute"
        }
        return "\(word), with \(Wording.seconds(stall.cpuSeconds)) of CPU time in "
            + "\(Wording.seconds(stall.seconds)) without progress"
            + (stall.waitsIn.map { "; its main thread was in \($0)" } ?? "") + (rate ?? "")
    }
}
