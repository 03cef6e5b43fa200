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
        /// Those that did not succeed, and whose records the host no longer has; absent if there are none.
        var forgotten: [Forgotten]?
    }

    /// A download that did not succeed, of which only its end is known.
    private struct Forgotten: Encodable {
        var transfer: TransferID
        var outcome: TransferOutcome
    }

    /// A download that did not succeed, and its record; `nil` if the host no longer has it.
    private struct Unsuccessful {
        var transfer: TransferID
        var outcome: TransferOutcome
        var record: TransferMessage?
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
        for part in parts() {
            do {
                transfers += try await client.transfer(part)
            } catch {
                if let first = transfers.first, let last = transfers.last {
                    console.complain(
                        "bgtask: the host accepted only the first \(transfers.count) of \(requests.count) "
                            + "downloads, \(first) to \(last), and makes them. To cancel one: "
                            + "bgtask cancel \(first)")
                }
                throw error
            }
        }
        guard let ends else {
            if console.json { return try console.print(json: Begun(transfers: transfers)) }
            return try console.line(begun(transfers))
        }
        if !console.json { try console.line(begun(transfers)) }
        do {
            try await follow(transfers, ends)
        } catch let error as ControlClientError {
            console.complain(
                "bgtask: the downloads go on without this command. To see how far they are: bgtask transfers")
            throw error
        }
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
        var unsuccessful: [Unsuccessful] = []
        for try await event in ends {
            switch event {
            case .transferEnded(let id, let outcome):
                guard open.remove(id) != nil else { continue }
                if outcome != .succeeded {
                    // The host forgets old ends, so it is asked now and not at the end.
                    unsuccessful.append(
                        Unsuccessful(transfer: id, outcome: outcome, record: try await record(of: id)))
                }
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

    /// The record of a transfer that has ended; `nil` if the host has forgotten it.
    private func record(of id: TransferID) async throws -> TransferMessage? {
        do {
            return try await client.transfer(id)
        } catch ControlClientError.refused(let message)
            where message.code == SubmissionError.Code.notFound.rawValue
        {
            return nil
        }
    }

    private func conclude(_ count: Int, _ unsuccessful: [Unsuccessful]) async throws {
        if console.isLive { try console.write("\r\u{1B}[K") }
        let failed = unsuccessful.sorted { $0.transfer < $1.transfer }
        let succeeded = count - failed.count
        if console.json {
            let forgotten = failed.filter { $0.record == nil }.map {
                Forgotten(transfer: $0.transfer, outcome: $0.outcome)
            }
            try console.print(
                json: Ended(
                    succeeded: succeeded, failed: failed.compactMap(\.record),
                    forgotten: forgotten.isEmpty ? nil : forgotten))
        } else {
            for end in failed {
                let why =
                    end.record.map { "\($0.failure?.message ?? "") (\($0.url))" }
                    ?? "the host no longer has its record; see bgtask logs"
                try console.line(Printable.text("\(end.transfer) \(end.outcome.rawValue): \(why)"))
            }
            try console.line("\(succeeded) of \(count) downloads succeeded")
        }
        if !failed.isEmpty { throw ExitCode(1) }
    }
}
