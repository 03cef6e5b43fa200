import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct ReportCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Shows how a launch crashed, was killed, or reached a limit.",
        discussion: """
            The report has the code, the limits that the launch reached and what it \
            used, the stack of each thread, the open assertions, the last progress, \
            and the last lines of the launch. For a request or a task, it shows the \
            newest of its launches that ended in such a way; without TARGET, the \
            newest of all.

            Examples:
              bgtask report
              bgtask report L42
              bgtask report R17
              bgtask report com.example.feed.refresh
              bgtask report L42 --json
            """)

    /// How many of the newest launches are searched for one with a report.
    private static let searched = 1000
    /// The greatest number of the launch's last log lines in the report.
    private static let shownLines = 20

    @Argument(
        help: ArgumentHelp(
            "The launch, such as L42, the request, such as R17, or the identifier of a task.",
            valueName: "target"))
    var target: WrittenTarget?

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let named = try await target.asyncMap(client.target)
        guard let id = try await launch(of: named, by: client) else {
            if console.json { return try console.write("null\n") }
            let of = named.map { " of \($0)" } ?? ""
            return try console.line(
                "None of the newest \(Self.searched) launches\(of) crashed, was killed or reached a limit.")
        }
        let detail = try await client.launch(id)
        let message = TerminationMessage(
            launch: detail.launch, termination: detail.termination, calls: detail.calls,
            lines: Array(detail.log.suffix(Self.shownLines)))
        if console.json { return try console.print(json: message) }
        try TerminationText(message, style: console.style, clock: console.logClock).lines.forEach {
            try console.line($0)
        }
    }

    /// The launch of the command line, or else the newest one that needs a report.
    private func launch(of named: NamedTarget?, by client: ControlClient) async throws -> LaunchID? {
        var identifier: TaskIdentifier?
        switch named {
        case .launch(let id): return id
        case .request(let id): return try await client.request(id).launches.last(where: \.needsReport)?.launch
        case .identifier(let name): identifier = name
        case .transfer(let id):
            throw ValidationError("\(id) is a transfer, which has no report. To see it: bgtask show \(id)")
        case nil: break
        }
        var after: LaunchID?
        var left = Self.searched
        repeat {
            let length = min(left, ControlProtocol.maximumPageLength)
            let page = try await client.launchPage(
                LaunchFilter(identifier: identifier), after: after, limit: length)
            if let bad = page.launches.first(where: \.needsReport) { return bad.launch }
            after = page.next
            left -= length
        } while after != nil && left > 0
        return nil
    }
}

extension LaunchMessage {
    /// Whether the launch ended in a way that has a report.
    fileprivate var needsReport: Bool {
        switch outcome {
        case .crashed, .killed: true
        case .expired, .failed, .cancelled:
            [.cpuLimit, .memoryLimit, .storageLimit, .noProgress].contains(reason)
        case .succeeded, .lost, nil: false
        }
    }
}

/// What `bgtask report --json` prints.
struct TerminationMessage: Codable, Equatable, Sendable {
    /// The record of the launch.
    var launch: LaunchMessage
    /// What the processes did at the fatal moment; `null` if the launch needs no such report.
    @Explicit var termination: TerminationReport?
    /// The calls that the sandbox refused, and those that a learning run observed; `null` if there are none.
    @Explicit var calls: ObservedCalls?
    /// The last lines that the launch logged and printed, oldest first.
    var lines: [LogLineMessage]
}
