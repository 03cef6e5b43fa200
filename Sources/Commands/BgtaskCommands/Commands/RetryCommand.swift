import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct RetryCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Submits work that failed again.",
        discussion: """
            The new request has the payload, the needs, the tags and the priority of the old one, but no dates, \
            and it does not wait for the requests of --after. \
            With --failed, the command takes every request whose last launch started since --since and \
            did not succeed, except those that were cancelled or that the host still tries. A request is \
            submitted again only once, however often the command is given; to try its retry again, name \
            that one.

            A task without a queue has one pending request, so of such a task, only the newest failed \
            request is submitted. It takes the place of the schedule's next request, and waits behind any other.
            With --failed, what the host refuses is named, and the command exits with 4 after the others.

            Examples:
              bgtask retry L42
              bgtask retry R17
              bgtask retry --failed --since 1h
              bgtask retry --failed --since 'yesterday 18:00' --identifier com.example.video.encode
            """)

    @Argument(
        help: ArgumentHelp("A launch (L42) or a request (R17) that did not succeed.", valueName: "target"))
    var target: WrittenTarget?

    @Flag(help: "Submit all that failed since --since.")
    var failed = false

    @Option(
        help:
            "With --failed: since this time; a duration before now (2h), a local time (10:20, 'yesterday 18:00') or a date.",
        transform: BeginDate.init(past:))
    var since: BeginDate?

    @Option(help: "With --failed: only requests of this task.")
    var identifier: TaskIdentifier?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if failed {
            if target != nil {
                throw ValidationError("Name a launch or a request, or use --failed, not both.")
            }
            if since == nil {
                throw ValidationError("--failed needs --since, for example --since 1h.")
            }
        } else {
            if target == nil {
                throw ValidationError("Name a launch (L42) or a request (R17), or use --failed --since 1h.")
            }
            if since != nil || identifier != nil {
                throw ValidationError("--since and --identifier have no effect without --failed.")
            }
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        guard let target else { return try await retryFailed(client, console) }
        let request: RequestID
        switch try await client.target(target) {
        case .request(let id): request = id
        case .launch(let id): request = try await client.launch(id).launch.request
        case .identifier, .transfer:
            throw ValidationError("Name a launch (L42) or a request (R17).")
        }
        let acceptance = try await client.retry(request)
        if console.json { return try console.print(json: acceptance) }
        try console.line(Self.sentence(of: acceptance, retrying: request))
    }

    private static func sentence(of acceptance: AcceptanceMessage, retrying request: RequestID) -> String {
        let new = acceptance.request
        if acceptance.isRepeat {
            return "\(request) was submitted again before, as \(new.request). Nothing was changed"
        }
        return "\(new.request) \(new.identifier) is pending (\(new.kind.rawValue)); it retries \(request)"
            + (acceptance.replaces.map { ", and replaces \($0)" } ?? "")
    }

    private func retryFailed(_ client: ControlClient, _ console: Console) async throws {
        let requests = try await failedRequests(client, console)
        var messages: [AcceptanceMessage] = []
        var refused = false
        for request in requests {
            let acceptance: AcceptanceMessage
            do {
                acceptance = try await client.retry(request)
            } catch ControlClientError.refused(let refusal) {
                // The task may be gone; the others are submitted all the same.
                console.complain("\(request) is not submitted again: \(Printable.text(refusal.description))")
                refused = true
                continue
            }
            if console.json {
                messages.append(acceptance)
            } else {
                try console.line(Self.sentence(of: acceptance, retrying: request))
            }
        }
        if console.json { try console.print(json: messages) }
        if refused { throw ExitCode(4) }
        if requests.isEmpty, !console.json {
            try console.line("Nothing failed in that time that could be tried again.")
        }
    }

    /// The requests that ended without success, oldest first.
    private func failedRequests(_ client: ControlClient, _ console: Console) async throws -> [RequestID] {
        let filter = LaunchFilter(
            identifier: try await identifier.asyncMap(client.task),
            since: since.map { $0.time(before: console.now) })
        var found: [RequestID] = []
        var seen: Set<RequestID> = []
        var tasks: Set<TaskIdentifier> = []
        var next: LaunchID?
        repeat {
            let page = try await client.launchPage(
                filter, after: next, limit: ControlProtocol.maximumPageLength)
            for launch in page.launches where seen.insert(launch.request).inserted {
                guard let outcome = launch.outcome, outcome != .succeeded, outcome != .cancelled else {
                    tasks.insert(launch.identifier)
                    continue
                }
                let detail = try await client.request(launch.request)
                let isFirstOfTask = tasks.insert(launch.identifier).inserted
                guard detail.hasEnded, detail.outcome != .cancelled, detail.replacedBy == nil,
                    detail.request.isQueued == true || isFirstOfTask
                else { continue }
                found.append(launch.request)
            }
            next = page.next
        } while next != nil
        return found.reversed()
    }
}
