import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct PendingCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "Lists the pending requests, and why each of them waits.",
        discussion: """
            The last column gives the first reason. 'bgtask explain IDENTIFIER' gives every \
            reason, and what you can do.

            Examples:
              bgtask pending
              bgtask pending --json
            """)

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let pending = try await client.pending()
        if console.json { return try console.print(json: pending) }
        let now = console.now
        var table = Table(
            "REQUEST", "IDENTIFIER", "KIND", "ATTEMPT", "SUBMITTED", "EARLIEST", "WAITS BECAUSE")
        for row in pending {
            let request = row.request
            let earliest = [request.earliestBeginDate, request.notBefore].compactMap { $0 }.max {
                $0.time < $1.time
            }
            table.add(
                request.request.description, request.identifier.rawValue, request.kind.rawValue,
                String(request.attempt), Wording.relative(request.submittedAt, to: now),
                earliest.map { Wording.relative($0, to: now) } ?? "", Wording.reason(row.verdicts))
        }
        try console.print(table, ifEmpty: "Nothing is pending.")
    }
}
