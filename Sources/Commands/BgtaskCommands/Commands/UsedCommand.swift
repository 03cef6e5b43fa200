import ArgumentParser
import ControlClient
import TaskModel

struct UsedCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "used", abstract: "Records that the user uses a bundle now.",
        discussion: """
            The host learns at which hours the user uses the bundle, and prefers to run its tasks just \
            before. If the user had dismissed the bundle, the dismissal ends.

            Examples:
              bgtask used com.example.feed
              bgtask used com.example.feed --foreground
              bgtask used com.example.feed --background
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier
    @Flag(
        help:
            "Record that the app came to the foreground. Launches of the bundle then run at normal priority.")
    var foreground = false
    @Flag(help: "Record that the app left the foreground.")
    var background = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if foreground && background {
            throw ValidationError("Give --foreground or --background, but not both.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let change: BundleChange = foreground ? .foreground(true) : background ? .foreground(false) : .used
        try console.print(bundle: await client.change(client.bundle(bundle), change))
    }
}
