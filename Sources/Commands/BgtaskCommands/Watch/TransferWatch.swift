import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// Follows one transfer for `--wait`: it draws a live line on a terminal, and writes plain lines elsewhere.
struct TransferWatch {
    let client: ControlClient
    let console: Console
    let events: AsyncThrowingStream<HostEventMessage, any Error>
    let transfer: TransferMessage

    /// Follows the transfer to its end.
    ///
    /// - Throws: `ExitCode(1)` unless the transfer succeeds; ``ControlClientError`` if the connection breaks.
    func follow() async throws {
        do {
            try await followToEnd()
        } catch let error as ControlClientError {
            let id = transfer.transfer
            console.complain(
                "bgtask: \(id) goes on without this command. To see how far it is: bgtask show \(id)")
            throw error
        }
    }

    private func followToEnd() async throws {
        var shown = transfer
        var toldWait: String?
        try await tellWait(transfer, &toldWait)
        for try await event in events {
            switch event {
            case .transferChanged(let changed) where changed.transfer == transfer.transfer:
                if changed.state == .ended { return try conclude(changed) }
                if changed.state == .waiting, shown.state == .running || shown.failure != changed.failure {
                    try await tellWait(changed, &toldWait)
                }
                if changed.state == .running { try draw(changed, after: shown) }
                shown = changed
            case .hostStopping:
                throw broken("it is stopping; \(transfer.transfer) goes on after its next start")
            default: continue
            }
        }
        throw broken("it closed the event stream; \(transfer.transfer) goes on")
    }

    private func broken(_ finding: String) -> ControlClientError {
        if console.isLive { try? console.write("\r\u{1B}[K") }
        return .broken(socket: client.socketPath, finding: finding)
    }

    /// Says why the transfer waits, if it does.
    private func tellWait(_ message: TransferMessage, _ told: inout String?) async throws {
        guard !console.json, message.state == .waiting else { return }
        var message = message
        // Events contain no verdicts.
        if message.failure == nil { message = (try? await client.transfer(message.transfer)) ?? message }
        let why = message.why(at: console.now)
        guard message.state == .waiting, !why.isEmpty, why != told else { return }
        told = why
        if console.isLive { try console.write("\r\u{1B}[K") }
        try console.line(Printable.text("\(message.transfer) waits: \(why)"))
    }

    private func draw(_ message: TransferMessage, after shown: TransferMessage) throws {
        if console.json { return }
        guard console.isLive else {
            // Elsewhere, one line for each tenth.
            guard let total = message.total, total > 0 else { return }
            let (old, new) = (shown.completed * 10 / total, message.completed * 10 / total)
            if new > old { try console.line("\(message.transfer) \(message.percent) \(message.bytes)") }
            return
        }
        try console.write("\r\u{1B}[K" + Self.bar(message, width: console.width ?? 80))
    }

    /// The line `T17 [#####-----]  50 %  1.5 MiB of 3 MiB`.
    static func bar(_ message: TransferMessage, width: Int) -> String {
        let cells = 24
        let fraction = message.total.map { $0 > 0 ? Double(message.completed) / Double($0) : 0 } ?? 0
        let done = min(cells, Int(fraction * Double(cells)))
        let bar = String(repeating: "#", count: done) + String(repeating: "-", count: cells - done)
        return Table.cut("\(message.transfer) [\(bar)]  \(message.percent)  \(message.bytes)", to: width)
    }

    private func conclude(_ message: TransferMessage) throws {
        if console.isLive { try console.write("\r\u{1B}[K") }
        if console.json {
            try console.print(json: message)
        } else if message.outcome == .succeeded {
            try console.line(
                Printable.text(
                    "\(message.transfer) succeeded: \(message.file ?? message.url), \(message.bytes)"))
        } else {
            try console.line(
                Printable.text(
                    "\(message.transfer) \(message.outcome?.rawValue ?? "ended"): \(message.failure?.message ?? "")"
                ))
        }
        if message.outcome != .succeeded { throw ExitCode(1) }
    }
}
