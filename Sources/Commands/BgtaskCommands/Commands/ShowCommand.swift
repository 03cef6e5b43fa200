import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct ShowCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows everything that the host knows about one launch, with its log.",
        discussion: """
            Examples:
              bgtask show L42
              bgtask show L42 --json
            """)

    @Argument(help: ArgumentHelp("The launch, such as L42.", valueName: "launch"))
    var launch: LaunchID

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let detail = try await client.launch(launch)
        if console.json { return try console.print(json: detail) }
        let launch = detail.launch
        let now = console.now
        var rows: [(String, String?)] = [
            ("launch", "\(launch.launch) of request \(launch.request), attempt \(launch.attempt)"),
            ("identifier", launch.identifier.rawValue),
            ("bundle", launch.bundle.rawValue),
            ("kind", launch.kind.rawValue + (launch.isSimulated ? ", started by bgtask launch" : "")),
            ("state", launch.state.rawValue), ("title", launch.title.flatMap { $0.isEmpty ? nil : $0 }),
            ("subtitle", launch.subtitle.flatMap { $0.isEmpty ? nil : $0 }),
        ]
        rows += [
            ("outcome", launch.outcome?.rawValue), ("reason", launch.reason?.rawValue),
            ("message", launch.message),
            ("signal", launch.signal.map(String.init)), ("exit status", launch.exitStatus.map(String.init)),
            ("phase", launch.phase?.rawValue), ("code", launch.code),
            ("leftovers", launch.leftovers > 0 ? "killed processes: \(launch.leftovers)" : nil),
        ]
        rows += [
            ("waited", launch.waited.flatMap { $0.isEmpty ? nil : Wording.waited($0) }),
            ("started", "\(launch.startedAt) (\(Wording.relative(launch.startedAt, to: now)))"),
            ("ready", launch.readyAt.map { "after \(Wording.duration($0.time - launch.startedAt.time))" }),
            ("ended", launch.endedAt.map { "\($0), after \(launch.elapsed(at: now))" }),
            ("progress", launch.progress.map { Wording.progress($0) }), ("cpu time", launch.cpu),
            ("peak memory", launch.peakMemoryBytes.map(Wording.bytes)), ("isolation", launch.isolation),
            ("library", launch.libraryHash),
        ]
        for case (let name, let value?) in rows {
            let label = name + String(repeating: " ", count: max(0, 12 - name.count))
            let text = Printable.text(value)
            try console.line(label + (name == "outcome" ? console.style.outcome(launch.outcome, text) : text))
        }
        if let report = launch.report {
            try console.line()
            try console.line("report")
            for text in report.split(separator: "\n") {
                try console.line("  " + Printable.text(String(text)))
            }
        }
        if !detail.log.isEmpty {
            try console.line()
            for line in detail.log {
                try console.line(LogText.line(line, style: console.style, inLaunch: true))
            }
        }
    }
}
