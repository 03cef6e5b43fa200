import ArgumentParser
import Calendars
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct ExplainCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains why a task waits or may start, or why a launch started and stopped.",
        discussion: """
            The second line says in one sentence what the task waits for. Then comes what would help: the host tried \
            each act on a copy of its scheduler. Then come the launches in the slot that the task waits for, what it \
            has waited for until now, and the answer of each policy. For a request that waits, a forecast follows: when it will probably start, according to \
            the recorded days of the last four weeks, and when it will start if no condition changes.

            For a launch, the command explains why it started and stopped. For a request, it explains why it waits or, \
            if it has ended, its last launch.

            Examples:
              bgtask explain com.example.photos.cleanup
              bgtask explain L42
              bgtask explain R17
              bgtask explain com.example.photos.cleanup --json
            """)

    @Argument(
        help: ArgumentHelp(
            "The identifier of a task, a launch (L42) or a request (R17).", valueName: "target"))
    var target: WrittenTarget?
    @Option(help: ArgumentHelp("Explain this launch, such as L42.", valueName: "launch"))
    var launch: LaunchID?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if (target == nil) == (launch == nil) {
            throw ValidationError("Name a task, a launch (L42) or a request (R17), one of them.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        guard let target = launch.map({ .named(.launch($0)) }) ?? target else { return }
        switch try await client.target(target) {
        case .launch(let id): try await explain(id, client, console)
        case .request(let id): try await explain(client.request(id), client, console)
        case .transfer(let id):
            let transfer = try await client.transfer(id)
            if console.json { return try console.print(json: transfer) }
            try TransferStory(transfer: transfer, now: console.now).explain(on: console)
        case .identifier(let identifier): try await explain(identifier, client, console)
        }
    }

    /// Explains what a request waits for or, after its end, its last launch.
    private func explain(
        _ detail: RequestDetailMessage, _ client: ControlClient, _ console: Console
    ) async throws {
        if detail.state == RequestState.pending.rawValue {
            return try await tell(client.explain(detail.request.request), client, console)
        }
        if let last = detail.launches.last { return try await explain(last.launch, client, console) }
        let (id, identifier) = (detail.request.request, detail.request.identifier)
        let end = [detail.outcome?.rawValue, detail.reason?.rawValue].compactMap(\.self)
        throw ControlClientError.refused(
            ErrorMessage(
                SubmissionError(
                    code: .notFound, subject: "\(id)",
                    finding: "this request of \(identifier) never had a launch, and does not wait any more"
                        + (end.isEmpty ? "" : " (\(end.joined(separator: ", ")))"),
                    remedy: "To see how it ended: bgtask show \(id)")))
    }

    private func explain(
        _ identifier: TaskIdentifier, _ client: ControlClient, _ console: Console
    ) async throws {
        try await tell(client.explain(identifier), client, console)
    }

    private func tell(
        _ answer: TaskExplanationMessage, _ client: ControlClient, _ console: Console
    ) async throws {
        if console.json { return try console.print(json: answer) }
        var lead = "\(answer.identifier) (\(answer.kind.rawValue))"
        if let running = answer.running { lead += " runs as \(running)" }
        switch (answer.pending, answer.explanation.mayStart) {
        case (let request?, true): lead += ": \(request) may start now"
        case (let request?, false): lead += ": \(request) waits"
        case (nil, true): lead += ": no request is pending; one submitted now would start"
        case (nil, false): lead += ": no request is pending; one submitted now would wait"
        }
        try console.line(console.style.bold(lead))
        if let id = answer.pending, let request = try? await client.request(id).request,
            request.failedLaunch != nil
        {
            let failed = await client.failedTask(of: request)
            try console.line("Submitted by " + Wording.origin(of: request, failed: failed) + ".")
        }
        if let headline = answer.headline, !headline.isEmpty {
            try console.line(Printable.text(CommandText.adding(socket: common.socket, to: headline)))
        }
        try console.print(outlook: answer, socket: common.socket)
        try console.print(explanation: answer.explanation, socket: common.socket)
        if let forecast = answer.forecast {
            let now = answer.explanation.at.time
            let offset = console.zone.offset(at: now)
            try console.line("  " + Wording.forecast(forecast, at: now, offset: offset))
        }
        let begins = answer.explanation.verdicts.first { $0.policy == "EarliestBeginDate" }
        let date = begins?.rationale.lazy.compactMap(\.earliestChange).first?.time
        if let request = answer.pending, let date,
            date - answer.explanation.at.time > TaskRequest.farAhead,
            let detail = try? await client.request(request)
        {
            try console.warn(detail.warnings)
        }
    }

    private func explain(_ id: LaunchID, _ client: ControlClient, _ console: Console) async throws {
        let answer = try await client.explain(id)
        if console.json { return try console.print(json: answer) }
        let launch = answer.launch
        let simulated = launch.isSimulated ? " without waiting for conditions (bgtask launch)" : ""
        try console.line(
            console.style.bold(
                "\(id) \(launch.identifier) started at \(console.times.date(launch.startedAt))\(simulated)"))
        if let request = try? await client.request(launch.request).request, request.failedLaunch != nil {
            let failed = await client.failedTask(of: request)
            try console.line("  It was submitted by " + Wording.origin(of: request, failed: failed))
        }
        if let waited = launch.waited, !waited.isEmpty {
            try console.line("  It had waited \(Wording.waited(waited))")
        }
        if let start = answer.start {
            try console.print(explanation: start, at: .start)
        } else {
            try console.line("  The host kept no record of why it started")
        }
        guard launch.state == .ended || launch.state == .expiring else { return }
        try console.line()
        let end = [launch.outcome?.rawValue, launch.reason?.rawValue].compactMap { $0 }.joined(
            separator: ", ")
        try console.line(
            console.style.bold(
                launch.state == .ended ? "It ended: \(end)" : "The host asked it to stop: \(end)"))
        if let stop = answer.stop {
            try console.print(explanation: stop, at: .stop)
        } else if let reason = launch.reason {
            // The user's own command needs no policy to explain it.
            let who =
                reason == .cancelledByUser ? "A user stopped it (bgtask cancel)" : "No policy stopped it"
            try console.line("  " + who + (launch.message.map { ": " + Printable.text($0) } ?? ""))
        }
    }
}

extension Console {
    /// Writes what would help, who has the slot, and what the request has waited for.
    func print(outlook answer: TaskExplanationMessage, socket: String?) throws {
        let now = answer.explanation.at.time
        if let remedies = answer.remedies, !remedies.isEmpty {
            try line("What would help:")
            for remedy in remedies {
                let commands = remedy.acts.compactMap(\.command)
                try line("  " + Printable.text(Wording.remedy(remedy, now: now)))
                for command in commands {
                    let text = CommandText.line(Array(command.dropFirst()), socket: socket)
                    try line("    " + style.bold(Printable.text(text)))
                }
            }
        }
        if let holders = answer.holders, !holders.isEmpty {
            try line("In the slot that it waits for:")
            for holder in holders { try line("  " + Wording.holder(holder, now: now)) }
        }
        if let waited = answer.waited, !waited.isEmpty {
            try line("It has waited \(Wording.waited(waited)).")
        }
    }

    /// Writes the verdicts, vetoes first; each veto comes with its remedy.
    func print(
        explanation: ExplanationMessage, at reference: Wording.Reference = .now, socket: String? = nil
    ) throws {
        let now = explanation.at.time
        let vetoes = explanation.verdicts.filter { $0.decision != .proceed }
        for verdict in vetoes {
            for line in Wording.blocking([verdict], now: now, reference, showsSince: true) {
                let text = CommandText.adding(socket: socket, to: times.text(line))
                try self.line("  " + style.yellow("no ") + " " + Printable.text(text))
            }
        }
        // Policies with nothing to report share one line, so that the reader finds the important verdicts
        // quickly.
        let silent = explanation.verdicts.filter {
            $0.decision == .proceed && ($0.rationale.isEmpty && $0.weight == 0 || $0.policy == "Score")
        }
        for verdict in explanation.verdicts where verdict.decision == .proceed && !silent.contains(verdict) {
            let seen = times.text(verdict.rationale.map(Wording.accepted).joined(separator: ", "))
            let weight =
                verdict.weight > 0
                ? "  (score \(Wording.number(verdict.score)), weight \(Wording.number(verdict.weight)))" : ""
            try self.line(
                "  " + style.green("yes") + " " + Printable.text(verdict.policy)
                    + (seen.isEmpty ? "" : ": " + Printable.text(seen))
                    + style.dim(Wording.since(verdict, now, reference))
                    + style.dim(weight))
        }
        let others = silent.map(\.policy).filter { $0 != "Score" }
        if !others.isEmpty {
            try self.line(
                "  " + style.green("yes")
                    + style.dim(
                        " no objection from \(others.map { Printable.text($0) }.joined(separator: ", "))"))
        }
        if let score = explanation.score, let threshold = explanation.threshold {
            try self.line(
                "  The score \(reference == .now ? "is" : "was") \(Wording.number(score)); it \(reference == .now ? "must" : "had to") be \(Wording.number(threshold)) or more to start\(reference == .now ? " now" : "")"
            )
        }
    }
}
