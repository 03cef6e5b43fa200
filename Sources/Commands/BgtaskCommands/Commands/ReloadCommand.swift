import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct ReloadCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Makes the host read its configuration, manifests and custom conditions again.",
        discussion: """
            The host does so by itself when the files change. This command is for file systems that report no \
            changes, such as network mounts, and for scripts: when it returns, the new files are in force.

            The command exits with 1 if a file has an error.

            Examples:
              bgtask reload
              bgtask reload --json
            """)

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let listing = try await client.reload()
        let configuration = try await client.configuration()
        let files = configuration.files.filter { $0.state == .inForce || $0.state == .lastRightVersion }
        let problems = configuration.problems + listing.problems
        if console.json {
            try console.print(
                json: ReloadedMessage(
                    files: files.map(\.path), bundles: listing.plugins.map(\.bundle),
                    problems: problems))
        } else {
            let tasks = listing.plugins.reduce(0) { $0 + $1.tasks.count }
            try console.line(
                "In force: \(Wording.count(listing.plugins.count, "bundle")) with "
                    + "\(Wording.count(tasks, "task")), and "
                    + "\(Wording.count(files.count, "configuration file"))")
            try console.print(problems: problems)
        }
        if problems.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
}

/// What `bgtask reload --json` writes.
private struct ReloadedMessage: Encodable, Sendable {
    /// The configuration files in force.
    var files: [String]
    /// The bundles in force.
    var bundles: [BundleIdentifier]
    /// The problems of all files.
    var problems: [ProblemMessage]
}
