import ArgumentParser
import ControlClient
import ControlWire
import Synchronization
import TaskModel

struct PendingCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "Lists the pending requests, and why each of them waits.",
        discussion: """
            The last column says in one sentence what the request waits for. 'bgtask explain IDENTIFIER' gives every \
            reason, and everything that you can do. With --json, every request is on its own line of one \
            array, with the answers of all policies.

            Of a queue, the table has only the request that starts next, and a line below says how many wait \
            behind it. --all lists every request of queues, too, oldest first.

            Transfers are not requests: the last line says how many have not ended, and 'bgtask transfers --open' lists \
            them, with what each waits for. A warning says which requests have a begin date more than 7 days ahead.

            Examples:
              bgtask pending
              bgtask pending --all | head
              bgtask pending --tag photos
              bgtask pending --json
            """)

    @Option(help: ArgumentHelp("List only requests with this tag.", valueName: "word"))
    var tag: Tag?

    @Flag(help: "List also the requests of queues that others come before.")
    var all = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        if console.json {
            return try await client.readPending(tag: tag) { try console.write($0) }
        }
        let (tag, now) = (tag, console.now)
        let socket = common.socket
        let table = SharedTable(
            "REQUEST", .identifier("IDENTIFIER"), .spare("KIND", 2), .spare("ATTEMPT", 1),
            .spare("SUBMITTED", 3), .spare("EARLIEST", 5), .spare("TAGS", 4), .sentence("WHAT IT WAITS FOR"))
        let far = Mutex<[RequestID]>([])
        let folds = tag == nil && !all
        try await client.readPendingRows(tag: tag, foldsQueues: folds) { rows in
            let late = rows.filter(\.isFarAhead).map(\.request)
            far.withLock { $0 = Array(($0 + late).prefix(Self.mostWarnings)) }
            try console.print(rows, in: table) { row in
                [
                    row.request.description, row.identifier.rawValue, row.kind.rawValue, String(row.attempt),
                    Wording.relative(row.submittedAt, to: now),
                    row.earliestStart.map { Wording.relative($0, to: now) } ?? "",
                    row.tags.map(\.rawValue).joined(separator: " "),
                    CommandText.adding(socket: socket, to: row.waits),
                ]
            }
        }
        if table.isEmpty {
            try console.line(tag == nil ? "Nothing is pending." : "Nothing with this tag is pending.")
        }
        if folds { try await mentionQueues(client, console) }
        try await warn(of: far.withLock { $0 }, client, console)
        if tag == nil { try await mentionTransfers(client, console) }
    }

    /// For how many requests with a date far ahead the command asks whether a warning applies: 10, our
    /// choice, because each costs a query.
    private static let mostWarnings = 10

    /// Warns of begin dates far ahead that no schedule made.
    private func warn(of requests: [RequestID], _ client: ControlClient, _ console: Console) async throws {
        for request in requests {
            guard let warnings = try? await client.request(request).warnings else { continue }
            try console.warn(warnings.map { "\(request): \($0)" })
        }
    }

    /// Says how many requests wait in each queue.
    private func mentionQueues(_ client: ControlClient, _ console: Console) async throws {
        // An older host has no queues.
        for queue in (try? await client.queues()) ?? [] where queue.waiting > 1 || queue.running > 0 {
            let requests = queue.waiting == 1 ? "1 request waits" : "\(queue.waiting) requests wait"
            try console.line(
                "\(queue.identifier): \(requests) in its queue of at most \(queue.limit), "
                    + "\(queue.running) of at most \(queue.concurrency) run")
        }
    }

    /// Says that the host also has transfers, which wait for similar reasons.
    private func mentionTransfers(_ client: ControlClient, _ console: Console) async throws {
        // An older host has no transfers.
        let open = try? await client.transfers().count { $0.state != .ended }
        guard let open, open > 0 else { return }
        let command = CommandText.line(["transfers", "--open"], socket: common.socket)
        try console.line(
            open == 1
                ? "1 transfer has not ended. To list it: \(command)"
                : "\(open) transfers have not ended. To list them: \(command)")
    }
}

extension PendingListingRow {
    /// Whether the request was submitted with a begin date, or has a retry, far ahead.
    fileprivate var isFarAhead: Bool {
        earliestStart.map { $0.time - submittedAt.time > TaskRequest.farAhead } ?? false
    }
}
