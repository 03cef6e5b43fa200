import ArgumentParser
import ControlWire
import HostSettings
import Recording
import Scheduling
import Simulation
import TaskModel

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Runs the scheduler again on what a host recorded. Works without a host.",
        discussion: """
            Without --manifests and --policy, the scheduler gets every recorded event. The command then compares its \
            launches with those of the host, and exits with 1 if they differ. Damaged lines are left out and reported \
            on standard error.

            With --manifests or --policy, the scheduler gets only the events from outside (conditions, uses, requests \
            of clients, sleep) and decides about launches under the new rules. The run time, CPU time and outcome of \
            each launch come from the recording. With --compare, the column 'recorded' is what the host did.

            Examples:
              bgtask replay
              bgtask replay state/recording --launches
              bgtask replay --policy slow.yaml --compare
              bgtask replay --manifests new-manifests --compare --json
              bgtask replay --day 3 --svg day.svg
            """)

    @Argument(
        help: ArgumentHelp(
            "A recorded file, or the directory 'recording' of a host's state directory. The default is that of the host at $BGTASK_SOCKET or the standard socket, or else \(HostPaths.standard.state)/recording.",
            valueName: "log"))
    var log: String?

    @OptionGroup var options: RunOptions

    func run() async throws {
        let console = Console(json: options.json)
        do {
            let path: String
            if let log { path = log } else { path = await RecordingPlace.directory(state: nil) }
            var problems: [RecordingError] = []
            let segments = try RunOptions.complaining { try RecordedLog.read(path, skipped: &problems) }
            problems += segments.flatMap(\.problems)
            for problem in problems { console.complain("bgtask: \(Printable.text("\(problem)"))") }
            try replay(segments, problems, console)
        } catch is Console.Closed {}
    }

    private func replay(
        _ segments: [RecordedSegment], _ problems: [RecordingError], _ console: Console
    ) throws {
        let exact = ExactReplay(segments)
        guard let period = exact.period else {
            console.complain("bgtask: The recording is empty. Try again after the host has launched a task.")
            throw ExitCode(1)
        }
        let offset = RunOptions.offset(of: segments)
        var changes = RecordedWorld.Changes()
        changes.settings = try options.settings()
        changes.manifests = try options.readManifests()
        guard changes.settings != nil || changes.manifests != nil else {
            return try show(exact, segments, problems, period, offset, console)
        }
        let world = RecordedWorld(segments)
        guard let tried = world.run(changes, findDate: RunOptions.findDate) else { return }
        let name = [options.policy, options.manifests].compactMap(\.self).joined(separator: ", ")
        var runs = [("tried", tried)]
        if options.compare { runs.insert(("recorded", exact.tally), at: 0) }
        try Self.show(runs, title: name, period, offset, options, console)
    }

    /// Writes one or two runs that were made under changed rules.
    static func show(
        _ runs: [(name: String, tally: Tally)], title: String, _ period: ClosedRange<WallTime>,
        _ offset: Duration,
        _ options: RunOptions, _ console: Console, seed: UInt64? = nil
    ) throws {
        let summaries = runs.map { (name: $0.name, summary: RunSummary([$0.tally])) }
        if options.json {
            try console.print(
                json: RunsMessage(
                    runs: summaries.map { RunMessage($0.summary, named: $0.name) },
                    launches: options.launches
                        ? runs.last?.tally.launches.map(TallyLaunchMessage.init) : nil, seed: seed))
        } else if summaries.count == 2 {
            try console.print(summaries)
        } else if let run = runs.first, let summary = summaries.first?.summary {
            if options.launches { try console.print(launches: run.tally, offset: offset) }
            try console.print(summary)
        }
        if let last = runs.last {
            try options.draw(last.tally, period, title: title, offset: offset, console)
        }
    }

    private func show(
        _ exact: ExactReplay, _ segments: [RecordedSegment], _ problems: [RecordingError],
        _ period: ClosedRange<WallTime>,
        _ offset: Duration,
        _ console: Console
    ) throws {
        let summary = RunSummary([exact.tally])
        if options.json {
            try console.print(
                json: ReplayMessage(
                    run: RunMessage(summary, named: "recorded"), from: Timestamp(period.lowerBound),
                    until: Timestamp(period.upperBound), segments: segments.count,
                    problems: problems.map(RecordingProblemMessage.init),
                    differences: exact.differences.map {
                        .init(segment: $0.segment, at: Timestamp($0.at), finding: $0.finding)
                    },
                    launches: options.launches ? exact.tally.launches.map(TallyLaunchMessage.init) : nil))
        } else {
            let dates = [period.lowerBound, period.upperBound].map { Console.date($0, offset) }
            try console.line(
                console.style.bold(
                    "\(dates[0]) to \(dates[1]), \(segments.count) \(segments.count == 1 ? "segment" : "segments"), \(summary.events) events"
                ))
            if options.launches { try console.print(launches: exact.tally, offset: offset) }
            try console.print(summary)
            // Those behind a gap follow the recording.
            let compared = problems.isEmpty ? "The launches" : "The launches that could be compared"
            try console.line(
                exact.differences.isEmpty
                    ? console.style.green("\(compared) are the same as those of the host.")
                    : console.style.red(
                        Wording.count(exact.differences.count, "difference")
                            + " from the launches of the host:"))
            for difference in exact.differences.prefix(20) {
                try console.line(
                    "  \(Console.date(difference.at, offset)) \(difference.finding) (\(Printable.text(difference.segment)))"
                )
            }
        }
        try options.draw(exact.tally, period, title: "bgtask replay", offset: offset, console)
        if !exact.differences.isEmpty { throw ExitCode(1) }
    }
}

extension RunOptions {
    /// The offset of local time from UTC where the recording was made.
    static func offset(of segments: [RecordedSegment]) -> Duration {
        for entry in segments.lazy.flatMap(\.entries) {
            if case .localTimeChanged(let offset) = entry.event { return offset }
        }
        return .zero
    }
}

/// The output of `simulate --json`, and of `replay --json` with changed rules.
struct RunsMessage: Encodable {
    var runs: [RunMessage]
    var launches: [TallyLaunchMessage]?
    var seed: UInt64?
}

/// The output of `replay --json` with unchanged rules.
private struct ReplayMessage: Encodable {
    struct Difference: Encodable {
        var segment: String
        var at: Timestamp
        var finding: String
    }

    var run: RunMessage
    var from: Timestamp
    var until: Timestamp
    var segments: Int
    var problems: [RecordingProblemMessage]
    var differences: [Difference]
    var launches: [TallyLaunchMessage]?
}
