import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct LaunchCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch", abstract: "Starts a task now, without waiting for good conditions.",
        discussion: """
            The host asks only four of its policies: a manifest must permit the task, no other launch of \
            the task and no task that conflicts with it may run, and the machine must not be about to \
            sleep. Conditions, dates, budgets and slots do not matter. If a request of the task is pending, \
            that request starts; otherwise, the host makes one.

            With --payload, the host makes a request with the values of the manifest and this payload. A \
            request of the task that is pending is replaced, as by 'bgtask submit'; in a queue, it stays.

            With --wait, the command ends with this launch. If it failed and the host will try again, the \
            command says when. The further attempts wait for good conditions again.

            With --debug, the process stops before its handler begins, and waits for a debugger. \
            The time that it waits does not count as run time.

            With --learn, the record of the launch contains each file, program and port that the task used \
            or tried to use, and which of them the sandbox refused. The task works more slowly. \
            'bgtask security BUNDLE --tighten' then shows the smallest 'sandbox:' for it.

            Examples:
              bgtask launch com.example.feed.refresh
              bgtask launch com.example.feed.refresh --wait
              bgtask launch com.example.hash.tree --payload '{"root": "/usr/share"}' --wait
              bgtask launch com.example.feed.refresh --debug
              bgtask launch com.example.feed.refresh --learn --wait
            """)

    @Argument(help: "The identifier of the task.")
    var identifier: TaskIdentifier

    @Option(
        help: ArgumentHelp(
            "Make a request with this payload, a JSON object. @FILE reads it from a file, @- from standard input.",
            valueName: "json"))
    var payload: String?

    @Flag(help: "Stop before the handler begins, and print the command that attaches a debugger.")
    var debug = false

    @Flag(help: "Record what the task uses, and what the sandbox refuses.")
    var learn = false

    @Flag(help: "Follow the launch until it ends. A further attempt is reported, but not followed.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let payload = try payload.map(PayloadOption.read)
        let identifier = try await client.task(identifier)
        let events = wait ? try await RequestWatch.events(of: identifier, client, console) : nil
        let simulated = try await client.simulateLaunch(
            identifier, debug: debug, learn: learn, payload: payload)
        if !console.json {
            try console.line(
                "\(simulated.launch.launch) \(identifier) has started, without waiting for conditions")
            if let process = simulated.processIdentifier {
                try console.line(
                    "It waits before its handler for a debugger. Attach one, and continue the process from there:"
                )
                try console.line("  gdb -p \(process)")
                try console.line("  lldb -p \(process)")
            }
        } else if !wait {
            try console.print(json: simulated)
        }
        guard let events else { return }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: simulated.launch.request,
            identifier: identifier, isOneAttempt: true)
        try await watch.follow(from: simulated.launch)
    }
}
