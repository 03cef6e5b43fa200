import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// Begins several transfers, and follows them for `--wait`.
struct SeveralTransfers {
    /// The most that one call carries, in bytes of its texts; the host refuses bodies above 512 KiB.
    private static let callLength = 256 << 10

    /// What `--json` prints without `--wait`.
    private struct Begun: Encodable {
        var transfers: [TransferID]
    }

    /// What `--json` prints with `--wait`.
    private struct Ended: Encodable {
        var succeeded: Int
        var failed: [TransferMessage]
    }

    let client: ControlClient
    let console: Console
    let requests: [TransferRequestMessage]

    /// Begins all transfers.
    ///
    /// - Parameter ends: The ends of transfers since a moment before; `nil` without `--wait`.
    /// - Throws: `ExitCode(1)` unless all that are followed succeed; ``ControlClientError``.
    func begin(following ends: AsyncThrowingStream<HostEventMessage, any Error>?) async throws {
        var transfers: [TransferID] = []
        for part in parts() { transfers += try await client.transfer(part) }
        guard let ends else {
            if console.json { return try console.print(json: Begun(transfers: transfers)) }
            return try console.line(begun(transfers))
        }
        if !console.json { try console.line(begun(transfers)) }
        try await follow(transfers, ends)
    }

    private func begun(_ transfers: [TransferID]) -> String {
        guard let first = transfers.first, let last = transfers.last, first != last else {
            return "\(transfers.first?.description ?? "") downloads 1 file"
        }
        return "\(first) to \(last) download \(transfers.count) files"
    }

    /// The requests, in parts that fit into one call each.
    private func parts() -> [[TransferRequestMessage]] {
        var parts: [[TransferRequestMessage]] = []
        var length = Int.max
        for request in requests {
            // The keys and the other values need less than 500 bytes.
            let more = ([request.url, request.file ?? ""] + (request.headers ?? [])).reduce(500) {
                $0 + $1.utf8.count
            }
            if length > Self.callLength - more || (parts.last?.count ?? 0) >= ControlProtocol.maximumTransfers
            {
                parts.append([])
                length = 0
            }
            parts[parts.count - 1].append(request)
            length += more
        }
        return parts
    }

    private func follow(
        _ transfers: [TransferID], _ ends: AsyncThrowingStream<HostEventMessage, any Error>
    ) async throws {
        var open = Set(transfers)
        var unsuccessful: [TransferID] = []
        for try await event in ends {
            switch event {
            case .transferEnded(let id, let outcome):
                guard open.remove(id) != nil else { continue }
                if outcome != .succeeded { unsuccessful.append(id) }
            case .hostStopping:
                throw broken("it is stopping; \(open.count) transfers go on after its next start")
            default: continue
            }
            if open.isEmpty { return try await conclude(transfers.count, unsuccessful) }
            let done = transfers.count - open.count
            if console.isLive, !console.json, done.isMultiple(of: max(1, transfers.count / 100)) {
                try console.write("\r\u{1B}[K\(done) of \(transfers.count) have ended")
            }
        }
        throw broken("it closed the event stream; \(open.count) transfers go on")
    }

    private func broken(_ finding: String) -> ControlClientError {
        if console.isLive { try? console.write("\r\u{1B}[K") }
        return .broken(socket: client.socketPath, finding: finding)
    }

    private func conclude(_ count: Int, _ unsuccessful: [TransferID]) async throws {
        if console.isLive { try console.write("\r\u{1B}[K") }
        var failed: [TransferMessage] = []
        for id in unsuccessful.sorted() { failed.append(try await client.transfer(id)) }
        let succeeded = count - failed.count
        if console.json {
            try console.print(json: Ended(succeeded: succeeded, failed: failed))
        } else {
            for message in failed {
                try console.line(
                    Printable.text(
                        "\(message.transfer) \(message.outcome?.rawValue ?? "ended"): "
                            + "\(message.failure?.message ?? "") (\(message.url))"))
            }
            try console.line("\(succeeded) of \(count) downloads succeeded")
        }
        if !failed.isEmpty { throw ExitCode(1) }
    }
}
