import ArgumentParser
import Calendars
import ControlClient
import ControlWire
import TaskModel

struct LogsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Shows the log of the host, with the output of handlers.",
        discussion: """
            The host stores its log, so lines of an earlier host are shown, too. With --json, each line of the \
            output is a JSON object.

            Examples:
              bgtask logs -n 50
              bgtask logs L42
              bgtask logs com.example.backup.nightly --since 1d --grep error
              bgtask logs -f --identifier com.example.feed.refresh
              bgtask logs -f --subsystem com.example.feed --category network --level warning
            """)

    @Argument(
        help: ArgumentHelp(
            "Show only lines about this launch (L42), the launches of this request (R17), or this task.",
            valueName: "target"))
    var target: WrittenTarget?

    @Flag(name: [.customShort("f"), .long], help: "Keep printing new lines until the host stops.")
    var follow = false

    @Option(help: "Show only lines about this task.")
    var identifier: TaskIdentifier?

    @Option(help: "Show only lines about this launch, such as L42.")
    var launch: LaunchID?

    @Option(help: "Show only lines that a handler logged under this subsystem.")
    var subsystem: String?

    @Option(help: "Show only lines that a handler logged under this category.")
    var category: String?

    @Option(help: "Show only lines of this level and above.")
    var level: LogLine.Level?

    @Option(
        help:
            "Show only lines since this time: a duration before now (2h), a local time (10:20, 'yesterday 18:00') or a date.",
        transform: BeginDate.init(past:))
    var since: BeginDate?

    @Option(
        help:
            "Show only lines until this time: a duration before now (2h), a local time (10:20, 'yesterday 18:00') or a date.",
        transform: BeginDate.init(past:))
    var until: BeginDate?

    @Option(name: [.customShort("n"), .long], help: "Show only this number of the newest lines, 1 to 10000.")
    var lines: Int?

    @Flag(help: "Show times in UTC, instead of the local time zone.")
    var utc = false

    @Option(help: "Show only lines that contain this text.")
    var grep: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if target != nil, identifier != nil || launch != nil {
            throw ValidationError("Name a target, or use --launch or --identifier, but not both.")
        }
        if let lines, !(1...ControlProtocol.maximumLogLines).contains(lines) {
            throw ValidationError(
                "Not a valid number of lines: \(lines). Use 1 to \(ControlProtocol.maximumLogLines).")
        }
        if follow, since != nil || until != nil || lines != nil {
            throw ValidationError("--follow shows new lines. Leave --since, --until and --lines out.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        var (launch, task) = (launch, try await identifier.asyncMap(client.task))
        // The launches of the request that the command names.
        var launches: Set<LaunchID>?
        let target = try await target.asyncMap(client.target)
        switch target {
        case .launch(let id): launch = id
        case .request(let id): launches = Set(try await client.request(id).launches.map(\.launch))
        case .identifier(let name): task = name
        case .transfer, nil: break
        }
        // An existing launch without lines gives no output. A launch that does not exist gives an error here.
        if let launch { _ = try await client.launch(launch) }
        func wants(_ line: LogLineMessage) -> Bool {
            if let task, line.identifier != task { return false }
            if let launch, line.launch != launch { return false }
            if let launches, !(line.launch.map(launches.contains) ?? false) { return false }
            if case .transfer(let id) = target, !line.message.hasPrefix("\(id) ") { return false }
            return isWanted(line)
        }
        if follow {
            for try await line in try await client.log(following: true) where wants(line) {
                try show(line, console)
            }
            return
        }
        var found: [LogLineMessage] = []
        for selection in selections(launch, launches, task, now: console.now) {
            for try await line in try await client.log(selection) where wants(line) { found.append(line) }
        }
        for line in found.suffix(lines ?? found.count) { try show(line, console) }
        guard found.isEmpty else { return }
        // The log can have lines of a task that is gone, so only a task without lines can be a mistake.
        if let task { _ = try await client.knownTask(task) }
        if !console.json { console.complain("bgtask: no line of the log matches") }
    }

    /// What to ask the host for: once, or once for each launch of a request.
    private func selections(
        _ launch: LaunchID?, _ launches: Set<LaunchID>?, _ task: TaskIdentifier?, now: WallTime
    ) -> [LogSelection] {
        var selection = LogSelection()
        selection.identifier = task
        selection.since = since.map { $0.time(before: now) }
        selection.until = until.map { $0.time(before: now) }
        // Lines that this command leaves out must not use up the number.
        let isFiltered = subsystem != nil || category != nil || level != nil || grep != nil || target != nil
        if let lines, !isFiltered { selection.limit = lines }
        selection.launch = launch
        guard let launches else { return [selection] }
        return launches.sorted().map {
            var one = selection
            one.launch = $0
            return one
        }
    }

    private func show(_ line: LogLineMessage, _ console: Console) throws {
        if console.json {
            try console.print(jsonLine: line)
        } else {
            var clock = console.logClock
            if utc { clock.zone = .utc }
            try console.line(LogText.line(line, style: console.style, inLaunch: false, clock: clock))
        }
    }

    private func isWanted(_ line: LogLineMessage) -> Bool {
        if let subsystem, line.subsystem != subsystem { return false }
        if let category, line.category != category { return false }
        if let level, line.level < level { return false }
        if let grep, !line.message.contains(grep) { return false }
        return true
    }
}
