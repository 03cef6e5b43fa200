import HostCore
import LinuxSystem
public import TaskModel

/// The functions of the control channel about transfers; `TransferControl` documents each of them.
public struct HostTransfers: Sendable {
    let host: TaskHost

    /// Makes a transfer, which is durable when the function returns.
    public func transfer(_ request: TransferRequest) async throws(SubmissionError) -> Transfer {
        var known: [Substring: String] = [:]
        let resolved = Self.resolved(request, &known)
        try check(resolved)
        return try await host.ask(.transfer(resolved)).value {
            if case .transfer(let found) = $0 { found } else { nil }
        }
    }

    /// Makes several transfers, which are durable when the function returns.
    public func transfer(_ requests: [TransferRequest]) async throws(SubmissionError) -> [TransferID] {
        // Most often, many files go to one directory.
        var known: [Substring: String] = [:]
        let resolved = requests.map { Self.resolved($0, &known) }
        for request in resolved { try check(request) }
        return try await host.ask(.transfers(resolved)).value {
            if case .transfers(let found) = $0 { found } else { nil }
        }
    }

    /// Refuses a download into the host's own directory: it could replace the store or a lock.
    private func check(_ request: TransferRequest) throws(SubmissionError) {
        guard request.direction == .download, let file = request.file,
            PathWalk.isInside(file, host.configuration.stateDirectory)
        else { return }
        throw SubmissionError(
            code: .invalidRequest, subject: file,
            finding: "the host keeps its own files in \(host.configuration.stateDirectory)",
            remedy: "Give a file in another directory")
    }

    /// The request with the one spelling of its path, without links: of the file to send, or of the directory
    /// of a download.
    ///
    /// So two downloads to one file are seen, and a link that comes later leads nowhere.
    private static func resolved(
        _ request: TransferRequest, _ known: inout [Substring: String]
    ) -> TransferRequest {
        guard let file = request.file, file.hasPrefix("/"), let slash = file.lastIndex(of: "/") else {
            return request
        }
        guard request.direction == .download else {
            var resolved = request
            resolved.file = (try? PathWalk(file).realPath) ?? file
            return resolved
        }
        let name = file[file.index(after: slash)...]
        // A path that ends so names no file, and a directory can be missing: the delivery says that. Links
        // before a missing directory are resolved, because the delivery follows none.
        guard !["", ".", ".."].contains(name), !file.utf8.contains(0),
            let directory = known[file[..<slash]]
                ?? (try? PathWalk(String(file[...slash])).realPath)
        else { return request }
        known[file[..<slash]] = directory
        var resolved = request
        resolved.file = (directory == "/" ? "" : directory) + "/" + name
        return resolved
    }

    /// Cancels a transfer.
    public func cancelTransfer(_ id: TransferID) async throws(SubmissionError) -> Transfer {
        try await host.ask(.cancelTransfer(id)).value {
            if case .transfer(let found) = $0 { found } else { nil }
        }
    }

    /// The transfers, oldest first, and why those that wait do.
    public func all() async throws(SubmissionError) -> [ExplainedTransfer] {
        await host.untilBegun()
        return await listed(by: host)
    }

    /// One transfer.
    public func transfer(_ id: TransferID) async throws(SubmissionError) -> ExplainedTransfer {
        await host.untilBegun()
        if let found = await found(id, by: host) { return found }
        throw SubmissionError(
            code: .notFound, subject: "\(id)", finding: "the host knows no such transfer",
            remedy: "To list the transfers: bgtask transfers")
    }

    private func listed(by host: isolated TaskHost) -> [ExplainedTransfer] {
        host.core.explainedTransfers(at: host.moments.now())
    }

    private func found(_ id: TransferID, by host: isolated TaskHost) -> ExplainedTransfer? {
        host.core.explainedTransfer(id, at: host.moments.now())
    }
}
