import ArgumentParser
import ControlClient
import TaskModel

struct UsedCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "used", abstract: "Records that the user uses a bundle.",
        discussion: """
            The host learns the hours of use and raises the score of the bundle's work just before them.
            A use lifts a dismissal.

            Examples:
              bgtask used com.example.feed
              bgtask used com.example.feed --foreground
              bgtask used com.example.feed --background
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier
    @Flag(help: "Its client came to the foreground: its launches run at normal priority.")
    var foreground = false
    @Flag(help: "Its client left the foreground.")
    var background = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if foreground && background { throw ValidationError("Give --foreground or --background, not both") }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let change: BundleChange = foreground ? .foreground(true) : background ? .foreground(false) : .used
        try console.print(bundle: await client.change(bundle, change))
    }
}
