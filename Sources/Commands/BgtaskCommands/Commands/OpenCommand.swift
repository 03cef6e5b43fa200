import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct OpenCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Launches the app of a bundle, so that it can submit its first requests.",
        discussion: """
            An app is a plugin that exports bgtask_app_entry. Every plugin that uses the Swift module \
            BackgroundTasks does. The host launches an app by itself when you install it, and when its \
            library changes. This command launches it again. It counts as a use of the bundle and ends \
            a dismissal.

            Examples:
              bgtask open com.example.feed
              bgtask open com.example.feed --wait
              bgtask open com.example.feed --json
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier

    @Flag(help: "Follow the launch until its last attempt ends.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let events = wait ? try await client.events() : nil
        let bundle = try await client.bundle(bundle)
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
