import ArgumentParser
import Authoring
import ControlWire
import TaskModel

struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Builds a plugin and runs its tasks in a private host, in one terminal.",
        discussion: """
            How the plugin is built depends on the files in its directory:
              Package.swift: swift build
              Makefile: make
              C files: the C compiler
              a manifest with 'call': no build

            The command then starts a host of its own in temporary directories, launches each task once, and prints \
            the log of the host and the output of the tasks. The host does not read the conditions of this machine: \
            it assumes external power, an unmetered network and an idle, cool machine. Stop it with Ctrl-C.

            Examples:
              bgtask dev
              bgtask dev --watch plugins/feed
              bgtask dev --once plugins/feed
              bgtask dev --task org.example.feed.import --payload '{"file": "/tmp/feed.xml"}'
            """)

    @Argument(help: "The directory of the plugin.")
    var directory = "."

    @Option(help: "Launch only this task.")
    var task: TaskIdentifier?

    @Option(help: ArgumentHelp("The payload for the task of --task.", valueName: "json|@file"))
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "Keep the state of the host in this directory. The default is a temporary directory.",
            valueName: "directory"))
    var state: String?

    @Flag(help: "Stop after the launches. Exit with 0 only if all of them succeeded.")
    var once = false

    @Flag(help: "Build and launch again each time a file changes.")
    var watch = false

    @Flag(help: "Print JSON after the launches, and everything else on standard error.")
    var json = false

    func validate() throws {
        if once, watch {
            throw ValidationError(
                "--once and --watch exclude each other: --once stops after the launches, --watch never does. Give one of them."
            )
        }
        if payload != nil, task == nil {
            throw ValidationError("--payload needs the task that gets it. Give --task too.")
        }
    }

    func run() async throws {
        let console = Console(json: json)
        do {
            let session = try DevSession(
                directory: directory, task: task, payload: try payload.map(PayloadOption.read),
                state: state, mode: once ? .once : watch ? .watch : .stay, console: console)
            guard try await session.run() else { throw ExitCode(1) }
        } catch let error as AuthoringError {
            try console.report(error)
            throw ExitCode(1)
        } catch is Console.Closed {}
    }
}
