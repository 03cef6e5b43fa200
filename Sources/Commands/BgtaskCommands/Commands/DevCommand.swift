import ArgumentParser
import Authoring
import ControlWire
import TaskModel

struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Builds a plugin and runs its tasks in a private host, in one terminal.",
        discussion: """
            It builds what is in the directory (Package.swift: swift build; Makefile: make; C files: the compiler; a \
            manifest with 'call': nothing), starts bgtaskd in temporary directories on a simulated machine, launches \
            each task once, and shows what host and handler write. The host then runs until Ctrl-C ends everything.

            Examples:
              bgtask dev
              bgtask dev --watch plugins/feed
              bgtask dev --once plugins/feed
              bgtask dev --task org.example.feed.import --payload '{"file": "/tmp/feed.xml"}'
            """)

    @Argument(help: "The plugin's directory.")
    var directory = "."

    @Option(help: "Launch only this task.")
    var task: TaskIdentifier?

    @Option(help: ArgumentHelp("What the task of --task is submitted with.", valueName: "json|@file"))
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "Keep the host's state here; a temporary place by default.", valueName: "directory"))
    var state: String?

    @Flag(help: "End after the launches; exit 0 only if all succeeded.")
    var once = false

    @Flag(help: "Build and launch again whenever a file changes.")
    var watch = false

    @Flag(help: "Print JSON at the end of each round, everything else on standard error.")
    var json = false

    func validate() throws {
        if once, watch {
            throw ValidationError("--once ends after one round and --watch never does. Give one of them.")
        }
        if payload != nil, task == nil {
            throw ValidationError("--payload is for one task. Give --task too.")
        }
    }

    func run() async throws {
        let console = Console(json: json)
        do {
            let session = try DevSession(
                directory: directory, task: task, payload: try payload.map(PayloadText.read),
                state: state, mode: once ? .once : watch ? .watch : .stay, console: console)
            guard try await session.run() else { throw ExitCode(1) }
        } catch let error as AuthoringError {
            try console.report(error)
            throw ExitCode(1)
        } catch is Console.Closed {}
    }
}
