import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct PushEndpointsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-endpoints",
        abstract: "Lists where servers send the pushes of bundles, by UnifiedPush.",
        discussion: """
            The host registers the bundles that have a task of the kind push with the distributor that its \
            configuration names: pushes.distributor. Each bundle also gets its endpoint as a push.

            Examples:
              bgtask push-endpoints
              bgtask push-endpoints --json
            """)

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let rows = try await client.pushEndpoints()
        if console.json { return try console.print(json: rows) }
        if rows.isEmpty { return try console.line("No bundle is registered. See Documentation/Pushes.md.") }
        for row in rows {
            let endpoint = row.endpoint.map { Printable.text($0, maximumLength: 512) }
            try console.line(
                "\(row.bundle)  \(endpoint ?? "waits for its endpoint")  (\(Printable.text(row.distributor)))"
            )
        }
    }
}
