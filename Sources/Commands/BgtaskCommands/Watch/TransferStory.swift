import Calendars
import ControlWire
import LinuxSystem
import TaskModel

/// Texts about one transfer: what the host knows of it, and why it waits or failed.
struct TransferStory {
    let transfer: TransferMessage
    let now: WallTime

    /// Writes everything that the host knows.
    func show(on console: Console) throws {
        func date(_ time: Timestamp) -> String {
            "\(console.times.date(time)) (\(Wording.relative(time, to: now)))"
        }
        let why = transfer.why(at: now)
        try console.print(
            rows: [
                ("transfer", "\(transfer.transfer), attempt \(transfer.attempts)"),
                ("bundle", transfer.bundle.rawValue), ("session", transfer.session),
                (
                    "direction",
                    transfer.direction.rawValue + (transfer.isDiscretionary ? ", discretionary" : "")
                ),
                ("address", transfer.url), ("file", transfer.file), ("state", transfer.state.rawValue),
                ("outcome", transfer.outcome?.rawValue), ("why", why.isEmpty ? nil : why),
                ("bytes", [transfer.percent, transfer.bytes].filter { !$0.isEmpty }.joined(separator: ", ")),
                ("received", Wording.bytes(transfer.received)), ("sent", Wording.bytes(transfer.sent)),
                ("status", transfer.status.map { "\($0)" }),
                ("redirected", transfer.finalURL.flatMap { $0 == transfer.url ? nil : $0 }),
                ("submitted", date(transfer.submittedAt)), ("next attempt", transfer.notBefore.map(date)),
                ("ended", transfer.endedAt.map(date)),
            ], outcome: nil)
        guard let lines = transfer.responseHeaders, !lines.isEmpty else { return }
        try console.line()
        for line in lines { try console.line("  " + Printable.text(line)) }
    }

    /// Writes what holds the transfer, and what to do; or how it ended.
    func explain(on console: Console) throws {
        try console.line(Printable.text("\(transfer.transfer) \(headline)"))
        guard transfer.state == .waiting else { return }
        for line in Wording.blocking(transfer.vetoes ?? [], now: now) {
            try console.line("  " + Printable.text(console.times.text(line)))
        }
        if let forecast = transfer.forecast {
            let offset = console.zone.offset(at: now)
            try console.line("  " + Wording.forecast(forecast, at: now, offset: offset))
        }
    }

    private var headline: String {
        let why = transfer.failure.map { ": \($0.message)" } ?? ""
        switch transfer.state {
        case .running: return "runs: \(transfer.bytes), attempt \(transfer.attempts)"
        case .finishing: return "is complete; the host puts the file into its place"
        case .ended:
            return (transfer.outcome?.rawValue ?? "has ended") + (transfer.outcome == .succeeded ? "" : why)
        case .waiting:
            if transfer.vetoes?.isEmpty == false { return "waits:" }
            if let next = transfer.notBefore {
                return "waits for its next attempt, \(Wording.relative(next, to: now))\(why)"
            }
            return TransferMessage.waitsForOthers
        }
    }
}
