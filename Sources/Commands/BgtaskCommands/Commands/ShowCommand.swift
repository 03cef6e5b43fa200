import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct ShowCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract:
            "Shows everything that the host knows about a launch, with its log, about a request or a transfer.",
        discussion: """
            A request can be shown after its end, too, as long as the host keeps its record. For the identifier of a \
            task, the command shows the launch that runs, else the pending request, else the newest launch.

            Examples:
              bgtask show L42
              bgtask show L42 --json
              bgtask show R17
              bgtask show T5
              bgtask show com.example.photos.cleanup
            """)

    @Argument(
        help: ArgumentHelp(
            "The launch (L42), the request (R17), the transfer (T5) or the identifier of a task.",
            valueName: "name"))
    var name: WrittenTarget

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        switch try await client.target(name) {
        case .launch(let id): try await show(id, client, console)
        case .request(let id): try await show(id, client, console)
        case .transfer(let id):
            let transfer = try await client.transfer(id)
            if console.json { return try console.print(json: transfer) }
            try TransferStory(transfer: transfer, now: console.now).show(on: console)
        case .identifier(let identifier):
            let newest = try await client.newestLaunch(of: identifier)
            let isRunning = newest.map { $0.endedAt == nil } ?? false
            if !isRunning, let pending = try await client.pending(identifier) {
                return try await show(pending.request.request, client, console)
            }
            guard let newest else { throw await client.unknown(identifier) }
            try await show(newest.launch, client, console)
        }
    }

    private func show(_ id: RequestID, _ client: ControlClient, _ console: Console) async throws {
        let detail = try await client.request(id)
        if console.json { return try console.print(json: detail) }
        try console.print(detail, failed: await client.failedTask(of: detail.request))
    }

    private func show(_ id: LaunchID, _ client: ControlClient, _ console: Console) async throws {
        let detail = try await client.launch(id)
        if console.json { return try console.print(json: detail) }
        let launch = detail.launch
        // The reason is one word, such as leaseEnded; the policy that stopped the launch says more.
        var stop: ExplanationMessage?
        if launch.reason != nil { stop = try? await client.explain(id).stop }
        let now = console.now
        var rows: [(String, String?)] = [
            ("launch", "\(launch.launch) of request \(launch.request), attempt \(launch.attempt)"),
            ("identifier", launch.identifier.rawValue),
            ("bundle", launch.bundle.rawValue),
            ("kind", launch.kind.rawValue + (launch.isSimulated ? ", started by bgtask launch" : "")),
            ("state", launch.state.rawValue), ("title", launch.title.flatMap { $0.isEmpty ? nil : $0 }),
            ("subtitle", launch.subtitle.flatMap { $0.isEmpty ? nil : $0 }),
        ]
        rows += [
            ("outcome", launch.outcome?.rawValue), ("reason", launch.reason?.rawValue),
            (
                "because",
                stop?.verdicts.first?.rationale.first.map { console.times.text($0.rationale.sentence) }
            ),
            ("message", launch.message),
            ("signal", launch.signal.map(String.init)), ("exit status", launch.exitStatus.map(String.init)),
            ("phase", launch.phase?.rawValue), ("code", launch.code),
            ("leftovers", launch.leftovers > 0 ? "killed processes: \(launch.leftovers)" : nil),
        ]
        rows += [
            ("waited", launch.waited.flatMap { $0.isEmpty ? nil : Wording.waited($0) }),
            (
                "started",
                "\(console.times.date(launch.startedAt)) (\(Wording.relative(launch.startedAt, to: now)))"
            ),
            ("ready", launch.readyAt.map { "after \(Wording.duration($0.time - launch.startedAt.time))" }),
            ("ended", launch.endedAt.map { "\(console.times.date($0)), after \(launch.elapsed(at: now))" }),
            ("progress", launch.progress.map { Wording.progress($0) }), ("cpu time", launch.cpu),
            ("peak memory", launch.peakMemoryBytes.map(Wording.bytes)),
            ("network", await client.network(of: launch)),
            ("isolation", launch.isolation),
            ("library", launch.libraryHash),
        ]
        // The request of an old launch may be forgotten.
        if let request = try? await client.request(launch.request).request {
            let failed = await client.failedTask(of: request)
            rows.insert(("submitted by", Wording.origin(of: request, failed: failed)), at: 1)
        }
        try console.print(rows: rows, outcome: launch.outcome)
        if let report = launch.report {
            try console.line()
            try console.line("report")
            for text in report.split(separator: "\n") {
                try console.line("  " + Printable.text(String(text)))
            }
        }
        for text in CallsText.lines(detail.calls) + CallsText.hint(detail) { try console.line(text) }
        if !detail.log.isEmpty {
            try console.line()
            let clock = console.logClock
            for line in detail.log {
                try console.line(LogText.line(line, style: console.style, inLaunch: true, clock: clock))
            }
        }
    }
}

extension ControlClient {
    /// The bytes of a launch, or why nothing counted them; `nil` if its bundle may not use the network.
    fileprivate func network(of launch: LaunchMessage) async -> String? {
        if let received = launch.networkReceivedBytes, let sent = launch.networkSentBytes {
            return "\(Wording.bytes(received)) received, \(Wording.bytes(sent)) sent"
        }
        // The record does not have the grants, so those of the present manifest stand for them.
        guard launch.isolation != "inProcess",
            let grants = try? await security(of: launch.bundle).first?.sandbox, grants.network != nil,
            let layer = try? await report().layers.first(where: { $0.name == "count of network bytes" }),
            !layer.isAvailable
        else { return nil }
        return "not counted: \(layer.finding)"
    }

    /// The task of the launch whose failure made a request; `nil` if none did, or if the host does not know
    /// it any more.
    func failedTask(of request: RequestMessage) async -> TaskIdentifier? {
        guard let id = request.failedLaunch else { return nil }
        return try? await launch(id).launch.identifier
    }
}

extension Console {
    /// Writes names and values in two columns, without those that have no value.
    func print(rows: [(String, String?)], outcome: Outcome?) throws {
        for case (let name, let value?) in rows {
            let label = name + String(repeating: " ", count: max(2, 14 - name.count))
            let text = Printable.text(value)
            try line(label + (name == "outcome" ? style.outcome(outcome, text) : text))
        }
    }

    /// Writes warnings, each on its own line.
    func warn(_ warnings: [String]) throws {
        for warning in warnings { try line(style.yellow("Warning: \(Printable.text(warning))")) }
    }

    /// Writes a request, how it ended, and its launches.
    ///
    /// `failed` is the task of the launch whose failure made the request; `nil` if none did, or if the host
    /// does not know it any more.
    func print(_ detail: RequestDetailMessage, failed: TaskIdentifier? = nil) throws {
        let request = detail.request
        try print(
            rows: [
                ("request", "\(request.request), attempt \(request.attempt)"),
                ("identifier", request.identifier.rawValue), ("bundle", request.bundle.rawValue),
                ("kind", request.kind.rawValue), ("state", detail.state),
                ("title", request.title.isEmpty ? nil : request.title),
                ("subtitle", request.subtitle.isEmpty ? nil : request.subtitle),
                (
                    "tags",
                    request.tags.flatMap { $0.isEmpty ? nil : $0.map(\.rawValue).joined(separator: ", ") }
                ),
                ("outcome", detail.outcome?.rawValue), ("reason", detail.reason?.rawValue),
                ("replaced by", detail.replacedBy.map { "\($0)" }),
                ("submitted by", Wording.origin(of: request, failed: failed)),
                (
                    "submitted",
                    "\(times.date(request.submittedAt)) (\(Wording.relative(request.submittedAt, to: now)))"
                ),
                ("begins after", request.earliestBeginDate.map(times.date)),
                ("after", request.afterSuccessOf?.map(\.description).joined(separator: ", ")),
                ("not succeeded", request.notSucceeded?.map(\.description).joined(separator: ", ")),
                ("fails at", request.failsAt.map(times.date)),
                ("ended", detail.endedAt.map { "\(times.date($0)) (\(Wording.relative($0, to: now)))" }),
            ], outcome: detail.outcome)
        for launch in detail.launches {
            let end =
                launch.endedAt == nil
                ? "\(launch.launch) runs, since \(launch.elapsed(at: now))"
                : RequestStory.sentence(of: launch)
            try line("attempt \(launch.attempt)   " + Printable.text(end))
        }
        try warn(detail.warnings)
        if detail.state == RequestState.pending.rawValue {
            try line("To see what it waits for: bgtask explain \(request.identifier)")
        } else if let last = detail.launches.last {
            try line("To see the last launch: bgtask show \(last.launch)")
        }
    }
}
