import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct PushSecretCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-secret",
        abstract: "Makes the secret with which a server signs its pushes to a bundle.",
        discussion: """
            The command prints the secret once. Give it to the server that sends the pushes. The host keeps it \
            in a file that only the user of the host can read. Documentation/Pushes.md describes the requests.

            Examples:
              bgtask push-secret com.example.mail
              bgtask push-secret com.example.mail --rotate    # accepts the secret before as well
              bgtask push-secret com.example.mail --settle    # accepts only the newest secret
              bgtask push-secret com.example.mail --remove
            """)

    @Argument(help: "The bundle.") var bundle: BundleIdentifier
    @Flag(help: "Make a new secret, and still accept the one before.") var rotate = false
    @Flag(help: "Accept only the newest secret.") var settle = false
    @Flag(help: "Make a new secret, and accept no other.") var replace = false
    @Flag(help: "Remove the secrets, so that the bundle gets no pushes from the network.") var remove = false
    @OptionGroup var common: CommonOptions

    private var changes: [PushSecretChange] {
        [(rotate, PushSecretChange.rotate), (settle, .settle), (replace, .replace), (remove, .remove)]
            .filter(\.0).map(\.1)
    }

    func validate() throws {
        if changes.count > 1 {
            throw ValidationError("Use only one of --rotate, --settle, --replace and --remove.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let bundle = try await client.bundle(bundle)
        let answer = try await client.changePushSecret(of: bundle, changes.first ?? .create)
        if console.json { return try console.print(json: answer) }
        if let secret = answer.secret { try console.line(secret) }
        switch answer.count {
        case 0: console.complain("\(bundle) has no secret, so it gets no pushes from the network.")
        case 1: console.complain("The host accepts one secret for \(bundle). It is in \(answer.path).")
        default:
            console.complain(
                "The host accepts \(answer.count) secrets for \(bundle). They are in \(answer.path).")
        }
    }
}
