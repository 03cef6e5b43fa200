import ArgumentParser
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
    var target: NamedTarget?

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
        help: "Show only lines since this time: a duration before now, such as 2h, or a date.",
        transform: BeginDate.init(text:))
    var since: BeginDate?

    @Option(
        help: "Show only lines until this time: a duration before now, such as 2h, or a date.",
        transform: BeginDate.init(text:))
    var until: BeginDate?

    @Option(name: [.customShort("n"), .long], help: "Show only this number of the newest lines, 1 to 10000.")
    var lines: Int?

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
        var (launch, launches, task) = (launch, Set<LaunchID>(), identifier)
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
            if case .request = target, !(line.launch.map(launches.contains) ?? false) { return false }
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
    }

    /// What to ask the host for: once, or once for each launch of a request.
    private func selections(
        _ launch: LaunchID?, _ launches: Set<LaunchID>, _ task: TaskIdentifier?, now: WallTime
    ) -> [LogSelection] {
        var selection = LogSelection()
        selection.identifier = task
        selection.since = since.map { $0.time(before: now) }
        selection.until = until.map { $0.time(before: now) }
        // Lines that this command leaves out must not use up the number.
        let isFiltered = subsystem != nil || category != nil || level != nil || grep != nil || target != nil
        if let lines, !isFiltered { selection.limit = lines }
        selection.launch = launch
        guard case .request = target else { return [selection] }
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
            try console.line(LogText.line(line, style: console.style, inLaunch: false, now: console.now))
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

/// Formats lines of the log for people.
enum LogText {
    /// The line as `02:45:08.123 notice L42 com.example.feed.refresh: [subsystem:category] text`.
    ///
    /// With `inLaunch`, it leaves out the launch's number and the identifier, which are the same in all
    /// lines.
    /// A line of another day than `now` begins with its date.
    static func line(_ line: LogLineMessage, style: Style, inLaunch: Bool, now: WallTime) -> String {
        var parts = [style.dim(clock(line.at, now)), level(line, style)]
        if !inLaunch {
            if let launch = line.launch { parts.append(launch.description) }
            if let identifier = line.identifier { parts.append(identifier.rawValue) }
        }
        let scope = [line.subsystem, line.category].compactMap { $0 }.filter { !$0.isEmpty }
        if !scope.isEmpty { parts.append("[\(Printable.text(scope.joined(separator: ":")))]") }
        parts.append(Printable.text(line.message))
        return parts.joined(separator: " ")
    }

    /// The time of day in UTC, the zone that all JSON output uses too, with the date if it is not that of
    /// `now`.
    private static func clock(_ at: Timestamp, _ now: WallTime) -> String {
        let text = at.description
        let time = text.dropFirst(11).prefix(12)
        return text.prefix(10) == Timestamp(now).description.prefix(10)
            ? String(time) : "\(text.prefix(10)) \(time)"
    }

    private static func level(_ line: LogLineMessage, _ style: Style) -> String {
        let source =
            switch line.source {
            case .host, .handler: line.level.rawValue
            case .standardOutput: "stdout"
            case .standardError: "stderr"
            }
        let padded = source + String(repeating: " ", count: max(0, 7 - source.count))
        return switch line.level {
        case .error: style.red(padded)
        case .warning: style.yellow(padded)
        case .notice, .info, .debug: padded
        }
    }
}
