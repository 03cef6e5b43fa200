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
              bgtask launches --identifier com.example.feed.refresh --limit 5
              bgtask launches --json
            """)

    @Option(help: "List only launches of this task.")
    var identifier: TaskIdentifier?

    @Option(help: "The greatest number of launches to list, 1 to 1000.")
    var limit = ControlProtocol.standardLaunchLimit

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...ControlProtocol.maximumLaunchLimit).contains(limit) else {
            throw ValidationError(
                "Not a valid limit: \(limit). Use 1 to \(ControlProtocol.maximumLaunchLimit).")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let launches = try await client.launches(identifier: identifier, limit: limit)
        if console.json { return try console.print(json: launches) }
        let now = console.now
        var table = Table(
            "LAUNCH", "IDENTIFIER", "STATE", "OUTCOME", "REASON", "ATTEMPT", "STARTED", "TIME", "CPU",
            "PROGRESS")
        for launch in launches {
            table.add(
                launch.launch.description, launch.identifier.rawValue, launch.state.rawValue,
                launch.outcome?.rawValue ?? "", launch.reason?.rawValue ?? "", String(launch.attempt),
                Wording.relative(launch.startedAt, to: now), launch.elapsed(at: now), launch.cpu,
                Wording.progress(launch.progress))
        }
        try console.print(
            table,
            ifEmpty: identifier == nil
                ? "The host has not launched anything yet." : "The host remembers no launch of this task.")
    }
}

extension LaunchMessage {
    /// The run time of the launch; if it is still running, its run time until now.
    func elapsed(at now: WallTime) -> String {
        Wording.duration((endedAt?.time ?? now) - startedAt.time)
    }

    /// The launch's CPU time, with `at least` before it if the true value may be higher.
    var cpu: String {
        (cpuIsLowerBound ? "at least " : "") + Wording.seconds(cpuSeconds)
    }
}
