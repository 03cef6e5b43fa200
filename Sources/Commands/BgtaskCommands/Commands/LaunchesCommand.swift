import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct LaunchesCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "launches", abstract: "Lists the launches, the newest first.",
        discussion: """
            Examples:
              bgtask launches
              bgtask launches --identifier com.example.feed.refresh -n 5
              bgtask launches --bundle com.example.feed --since 'yesterday 18:00'
              bgtask launches --outcome failed --since 1d
              bgtask launches --tag photos
              bgtask launches --all
              bgtask launches --json
            """)

    @Option(help: "List only launches of this task.")
    var identifier: TaskIdentifier?

    @Option(help: "List only launches of the tasks of this bundle.")
    var bundle: BundleIdentifier?

    @Option(help: "List only launches that ended so.")
    var outcome: Outcome?

    @Option(
        help:
            "List only launches that started since this time: a duration before now (2h), a local time (10:20, 'yesterday 18:00') or a date.",
        transform: BeginDate.init(past:))
    var since: BeginDate?

    @Option(help: ArgumentHelp("List only launches of requests with this tag.", valueName: "word"))
    var tag: Tag?

    @Option(
        name: [.customShort("n"), .long], help: "The greatest number of launches to list; 1 or more.")
    var limit = ControlProtocol.standardLaunchLimit

    @Flag(help: "List all launches that the host remembers.")
    var all = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("Not a valid limit: \(limit). Use 1 or more.") }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let now = console.now
        let filter = LaunchFilter(
            identifier: try await identifier.asyncMap(client.knownTask),
            bundle: try await bundle.asyncMap(client.bundle), tag: tag, outcome: outcome,
            since: since.map { $0.time(before: now) })
        if console.json {
            var left = all ? Int.max : limit
            func page(after: LaunchID?) async throws -> LaunchPageMessage {
                var page = try await client.launchPage(
                    filter, after: after, limit: min(left, ControlProtocol.maximumPageLength))
                left -= page.launches.count
                if left == 0 { page.next = nil }
                return page
            }
            return try await console.printJSON { (after: LaunchID?) in
                let page = try await page(after: after)
                return (page.launches, page.next)
            }
        }
        let table = SharedTable(
            "LAUNCH", .identifier("IDENTIFIER"), .spare("STATE", 3), "OUTCOME", .filled("REASON"),
            .spare("ATTEMPT", 1), "STARTED", .spare("TIME", 4), .spare("CPU", 2), .spare("PROGRESS", 5))
        try await client.readLaunchRows(filter, limit: all ? nil : limit) { rows in
            try console.print(rows, in: table) { launch in
                [
                    launch.launch.description, launch.identifier.rawValue, launch.state.rawValue,
                    launch.outcome?.rawValue ?? "", launch.reason?.rawValue ?? "", String(launch.attempt),
                    Wording.relative(launch.startedAt, to: now), launch.elapsed(at: now), launch.cpu,
                    Wording.progress(launch.progress),
                ]
            }
        }
        if table.isEmpty {
            try console.line(
                filter == .all
                    ? "The host has not launched anything yet." : "The host remembers no such launch.")
        }
    }
}

extension LaunchListingRow {
    /// The run time of the launch; if it is still running, its run time until now.
    fileprivate func elapsed(at now: WallTime) -> String {
        Wording.duration((endedAt?.time ?? now) - startedAt.time)
    }

    /// The launch's CPU time, with `at least` before it if the true value may be higher.
    fileprivate var cpu: String { Wording.cpu(cpuSeconds, isLowerBound: cpuIsLowerBound) }
}

extension LaunchMessage {
    /// The run time of the launch; if it is still running, its run time until now.
    func elapsed(at now: WallTime) -> String {
        Wording.duration((endedAt?.time ?? now) - startedAt.time)
    }

    /// The launch's CPU time, with `at least` before it if the true value may be higher.
    var cpu: String { Wording.cpu(cpuSeconds, isLowerBound: cpuIsLowerBound) }
}
