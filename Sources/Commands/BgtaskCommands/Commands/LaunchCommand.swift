import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct LaunchCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch", abstract: "Starts a task at once, whatever the conditions are.",
        discussion: """
            A simulated launch skips the policies, never the permissions: it takes the pending
            request, or makes one from the manifest. With --debug the task stops before its
            handler until a debugger lets it go on; its lease does not run meanwhile.

            Examples:
              bgtask launch com.example.feed.refresh
              bgtask launch com.example.feed.refresh --wait
              bgtask launch com.example.feed.refresh --debug
            """)

    @Argument(help: "The task's identifier.")
    var identifier: TaskIdentifier

    @Flag(help: "Stop before the handler and print the line that attaches a debugger.")
    var debug = false

    @Flag(help: "Follow the launch to the end of its last attempt.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let events = wait ? try await client.events() : nil
        let simulated = try await client.simulateLaunch(identifier, debug: debug)
        if !console.json {
            try console.line("\(simulated.launch.launch) \(identifier) is started (simulated)")
            if let process = simulated.processIdentifier {
                try console.line(
                    "It stopped before its handler. Attach a debugger, and let it go on from there:")
                try console.line("  gdb -p \(process)")
                try console.line("  lldb -p \(process)")
            }
        } else if !wait {
            try console.print(json: simulated)
        }
        guard let events else { return }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: simulated.launch.request,
            identifier: identifier)
        try await watch.follow(from: simulated.launch)
    }
}
