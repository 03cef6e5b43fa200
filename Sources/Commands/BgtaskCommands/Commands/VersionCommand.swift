import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct VersionCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Prints the versions of the command line and of the host.",
        discussion: """
            The command also works without a host.

            Examples:
              bgtask version
              bgtask version --json
            """)

    @OptionGroup var common: CommonOptions

    private struct Answer: Encodable {
        var version: String
        @Explicit var host: VersionMessage?
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let host = try await answer(of: client)
        if console.json {
            var answer = Answer(version: ProductVersion.current)
            answer.host = host
            return try console.print(json: answer)
        }
        try console.line("bgtask \(ProductVersion.current)")
        try console.line(
            host.map { "host \(Printable.text($0.version)), control API v\($0.api)" } ?? "no host is running")
    }

    /// The host's version; `nil` if no host is running.
    private func answer(of client: ControlClient) async throws -> VersionMessage? {
        do {
            return try await client.version()
        } catch {
            guard case .unreachable = error else { throw error }
            return nil
        }
    }
}
