import ArgumentParser
import ControlWire
import HostSettings
import LinuxSystem
import Recording
import TaskModel

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Lists what the host has recorded for replays and forecasts. Works without a host.",
        discussion: """
            The host records all inputs of its scheduler: conditions, requests (without payloads), and the begin and \
            end of each launch. The files are in the directory 'recording' of the host's state directory. The setting \
            recording.size limits their size. Damaged lines and missing events are listed after the files.

            Examples:
              bgtask record
              bgtask record --state /tmp/bgtask-demo/state --json
            """)

    @Option(
        help: ArgumentHelp(
            "The state directory of the host. The default is that of the host at $BGTASK_SOCKET or the standard socket, or else \(HostPaths.standard.state).",
            valueName: "directory"))
    var state: String?

    @Flag(help: .json)
    var json = false

    func run() async throws {
        let console = Console(json: json)
        let directory = await RecordingPlace.directory(state: state)
        var problems: [RecordingError] = []
        let files = try RunOptions.complaining { try RecordedLog.readFiles(directory, skipped: &problems) }
        problems += RecordedLog.problems(of: files)
        do {
            let rows = try RunOptions.complaining { try files.map(SegmentMessage.init) }
            if json {
                return try console.print(
                    json: RecordMessage(
                        directory: directory, segments: rows,
                        problems: problems.map(RecordingProblemMessage.init)))
            }
            var table = Table("file", "from", "until", "events", "launches", "size")
            for row in rows {
                table.add(
                    row.file, row.from.map { Console.date($0.time, .zero) } ?? "",
                    row.until.map { Console.date($0.time, .zero) } ?? "", "\(row.events)", "\(row.launches)",
                    Wording.bytes(row.bytes))
            }
            try console.line(
                "\(Printable.text(directory)), \(Wording.bytes(rows.reduce(0) { $0 + $1.bytes })), times in UTC"
            )
            try console.print(table, ifEmpty: "Nothing is recorded.")
            for problem in problems { try console.line(Printable.text("\(problem)")) }
            try console.line("Replay the recording: bgtask replay \(Printable.text(directory))")
        } catch is Console.Closed {}
    }
}

private struct RecordMessage: Encodable {
    var directory: String
    var segments: [SegmentMessage]
    var problems: [RecordingProblemMessage]
}

/// A damaged line or file of a recording, or a gap in the recording.
struct RecordingProblemMessage: Encodable {
    var subject: String
    var finding: String
    var remedy: String

    init(_ problem: RecordingError) {
        (subject, finding, remedy) = (problem.subject, problem.finding, problem.remedy)
    }
}

private struct SegmentMessage: Encodable {
    var file: String
    var from: Timestamp?
    var until: Timestamp?
    var events: Int
    var launches: Int
    var bytes: Int64
    var isContinued: Bool
    var isCut: Bool
    var hasRecap: Bool

    init(_ segment: RecordedSegment) throws {
        file = segment.path.split(separator: "/").last.map(String.init) ?? segment.path
        from = segment.entries.first.map { Timestamp($0.at.wall) }
        until = segment.entries.last.map { Timestamp($0.at.wall) }
        events = segment.entries.count
        launches = segment.launchCount
        bytes = try FileIdentity(of: segment.path).size
        isContinued = segment.header.isContinued
        isCut = segment.isCut
        hasRecap = segment.header.hasRecap
    }
}
