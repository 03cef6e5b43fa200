import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct TimersCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "timers",
        abstract: "Lists the tasks with a schedule: when they run next, and how they ended last.",
        discussion: """
            The tasks that run next come first. A task without a next date runs now, waits for an event of its \
            schedule, such as external power, has another request pending, or its dates are over.

            Examples:
              bgtask timers
              bgtask timers --json
            """)

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let now = console.now
        let timers = try await timers(client)
        if console.json { return try console.print(json: timers) }
        var table = Table(
            "NEXT", .spare("LAST", 2), .spare("RESULT", 3), .spare("SCHEDULE", 1), .identifier("IDENTIFIER"),
            .sentence("WHAT IT WAITS FOR"))
        for timer in timers {
            table.add(
                timer.next.map { Wording.relative($0, to: now) } ?? (timer.isRunning ? "runs" : ""),
                timer.last.map { Wording.relative($0, to: now) } ?? "", timer.result ?? "", timer.schedule,
                timer.identifier.rawValue, timer.waitsFor ?? "")
        }
        try console.print(table, ifEmpty: "No task has a schedule.")
    }

    /// The tasks with a schedule, by their next dates.
    private func timers(_ client: ControlClient) async throws -> [Timer] {
        let scheduled = try await client.plugins().plugins.flatMap(\.tasks).filter { $0.schedule != nil }
        var pending: [TaskIdentifier: PendingSummaryMessage] = [:]
        var after: RequestID?
        repeat {
            let page = try await client.pendingSummaries(
                after: after, limit: ControlProtocol.maximumPageLength)
            for row in page.requests { pending[row.identifier] = row }
            after = page.next
        } while after != nil
        var timers: [Timer] = []
        for task in scheduled {
            // A task with a schedule has one identifier, and not a pattern.
            let identifier = task.identifier.base
            let launch = try await client.launches(identifier: identifier, limit: 1).first
            timers.append(Timer(task, identifier, pending[identifier], launch))
        }
        return timers.sorted {
            // Those without a date come last.
            ($0.next?.time.milliseconds ?? .max, $0.identifier) < (
                $1.next?.time.milliseconds ?? .max, $1.identifier
            )
        }
    }
}

/// A task with a schedule, as `timers --json` prints it.
private struct Timer: Encodable {
    var identifier: TaskIdentifier
    var isRunning: Bool
    /// When its last launch began; `nil` if there was none.
    @Explicit var last: Timestamp?
    /// When its next launch can begin at the earliest; `nil` without a date.
    @Explicit var next: Timestamp?
    /// How its last launch ended.
    @Explicit var result: String?
    var schedule: String
    /// What its request waits for, in a sentence.
    @Explicit var waitsFor: String?

    init(
        _ task: PluginTaskMessage, _ identifier: TaskIdentifier, _ pending: PendingSummaryMessage?,
        _ launch: LaunchMessage?
    ) {
        self.identifier = identifier
        schedule = task.schedule ?? ""
        last = launch?.startedAt
        result = launch?.outcome?.rawValue
        isRunning = launch.map { $0.endedAt == nil } ?? false
        next = pending?.earliestStart
        waitsFor = pending?.headline
    }
}
