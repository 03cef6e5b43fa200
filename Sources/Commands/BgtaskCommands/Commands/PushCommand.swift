import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct PushCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Delivers a silent push to a bundle's task of the kind push.",
        discussion: """
            A new push replaces a push of the bundle that still waits. A push of priority 5 waits for good \
            conditions. A push of priority 10 does not, but a policy that forbids the start still delays it.

            Examples:
              bgtask push com.example.mail '{"unread": 3}'
              bgtask push com.example.mail @push.json --priority 10
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier
    @Argument(
        help: ArgumentHelp(
            "A JSON object. @FILE reads it from a file, @- from standard input.", valueName: "payload"))
    var payload: String
    @Option(help: ArgumentHelp("The priority: 5 waits for good conditions, 10 does not.", valueName: "5|10"))
    var priority = PushPriority.considerate.rawValue
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if PushPriority(rawValue: priority) == nil {
            throw ValidationError("Not a valid priority: \(priority). Use 5 or 10.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let push = PushMessage(
            bundle: try await client.bundle(bundle), payload: try PayloadOption.read(payload),
            priority: PushPriority(rawValue: priority)
        )
        let acceptance = try await client.push(push)
        if console.json { return try console.print(json: acceptance) }
        let request = acceptance.request
        let sentence = "\(request.request) \(request.identifier) is pending (\(request.kind.rawValue))"
        try console.line(acceptance.replaces.map { "\(sentence); it replaces \($0)" } ?? sentence)
    }
}
