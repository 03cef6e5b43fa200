import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct ExplainCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains why a task waits or may start, or why a launch started and stopped.",
        discussion: """
            Prints the answer of each policy: what it found, what it requires, and what you can do. The host decides \
            by the same answers. For a request that waits, a forecast follows: when it will probably start, according to \
            the recorded days of the last four weeks, and when it will start if no condition changes.

            Examples:
              bgtask explain com.example.photos.cleanup
              bgtask explain --launch L42
              bgtask explain com.example.photos.cleanup --json
            """)

    @Argument(help: "The identifier of the task.") var identifier: TaskIdentifier?
    @Option(help: ArgumentHelp("Explain this launch, such as L42.", valueName: "launch"))
    var launch: LaunchID?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if (identifier == nil) == (launch == nil) {
            throw ValidationError("Give either an identifier or --launch L42.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        if let launch { return try await explain(launch, client, console) }
        guard let identifier else { return }
        let answer = try await client.explain(identifier)
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
        try console.print(explanation: answer.explanation)
        if let forecast = answer.forecast {
            let offset = Duration.seconds(ProcessFacts.localTimeOffset(at: answer.explanation.at.time))
            let now = answer.explanation.at.time
            try console.line("  " + Wording.forecast(forecast, at: now, offset: offset))
        }
    }

    private func explain(_ id: LaunchID, _ client: ControlClient, _ console: Console) async throws {
        let answer = try await client.explain(id)
        if console.json { return try console.print(json: answer) }
        let launch = answer.launch
        let simulated = launch.isSimulated ? " without waiting for conditions (bgtask launch)" : ""
        try console.line(
            console.style.bold("\(id) \(launch.identifier) started at \(launch.startedAt)\(simulated)"))
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
        } else if launch.reason != nil {
            try console.line(
                "  No policy stopped it" + (launch.message.map { ": " + Printable.text($0) } ?? ""))
        }
    }
}

extension Console {
    /// Writes the verdicts, vetoes first; each veto comes with its remedy.
    func print(explanation: ExplanationMessage, at reference: Wording.Reference = .now) throws {
        let now = explanation.at.time
        let vetoes = explanation.verdicts.filter { $0.decision != .proceed }
        for verdict in vetoes {
            for line in Wording.blocking([verdict], now: now, reference, showsSince: true) {
                try self.line("  " + style.yellow("no ") + " " + Printable.text(line))
            }
        }
        // Policies with nothing to report share one line, so that the reader finds the important verdicts
        // quickly.
        let silent = explanation.verdicts.filter {
            $0.decision == .proceed && ($0.rationale.isEmpty && $0.weight == 0 || $0.policy == "Score")
        }
        for verdict in explanation.verdicts where verdict.decision == .proceed && !silent.contains(verdict) {
            let seen = verdict.rationale.map(Wording.accepted).joined(separator: ", ")
            let weight =
                verdict.weight > 0
                ? "  (score \(number(verdict.score)), weight \(number(verdict.weight)))" : ""
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
                "  The score \(reference == .now ? "is" : "was") \(number(score)); it \(reference == .now ? "must" : "had to") be \(number(threshold)) or more to start\(reference == .now ? " now" : "")"
            )
        }
    }

    /// The number with two decimal places.
    private func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
