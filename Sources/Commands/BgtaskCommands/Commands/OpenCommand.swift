import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct OpenCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Launches the app of a bundle, so that it submits its first requests.",
        discussion: """
            An app is a plugin with launch code of its own: it exports bgtask_app_entry, as every plugin
            does that is written with the Swift module BackgroundTasks. The host launches it by itself
            when it is installed and when its library changes; this launches it once more. It counts as
            a use and lifts a dismissal.

            Examples:
              bgtask open com.example.feed
              bgtask open com.example.feed --wait
              bgtask open com.example.feed --json
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier

    @Flag(help: "Follow the launch to the end of its last attempt.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let events = wait ? try await client.events() : nil
        let request = try await client.open(bundle)
        if !console.json {
            try console.line("\(request.request) launches the app of \(bundle)")
        } else if !wait {
            try console.print(json: request)
        }
        guard let events else { return }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: request.request,
            identifier: request.identifier)
        try await watch.follow()
    }
}
