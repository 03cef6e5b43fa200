import Foundation
import TaskHostTestSupport
import TaskModel
import Testing
import Transferring

/// How the program that makes transfers keeps to the bytes that a bundle may move.
@Suite(.system) struct TransferLimitTests {
    /// What one read of the network brings at most for a bundle with a limit, in bytes.
    private static let oneRead: Int64 = 16 << 10

    private let server: TransferServer
    private let root = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UUID())")
    private let bundle: BundleIdentifier
    private let program: TransferProgram
    private let reports: AsyncStream<TransferReport>

    init() throws {
        server = try TransferServer()
        bundle = try BundleIdentifier("com.example")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let (reports, continuation) = AsyncStream.makeStream(of: TransferReport.self)
        self.reports = reports
        program = TransferProgram(
            configuration: TransferProgram.Configuration(
                programPath: HostProcess.products.appendingPathComponent("bgtask-transfer").path, layers: []),
            files: TransferFiles(root: root.path, dataDirectory: { "/nowhere/\($0)" }),
            report: { reports in reports.forEach { continuation.yield($0) } },
            problem: { _ in continuation.finish() })
    }

    private func begin(_ number: Int64, size: Int, bytesLeft: Int64?) {
        begin(number, "file/n\(number)?size=\(size)", bytesLeft: bytesLeft)
    }

    private func begin(_ number: Int64, _ place: String, bytesLeft: Int64?) {
        let request = TransferRequest(
            bundle: bundle, direction: .download, url: "\(server.address)/\(place)")
        let transfer = Transfer(
            id: TransferID(rawValue: number), request: request, submittedAt: WallTime(milliseconds: 0))
        program.begin([TransferProgram.Attempt(transfer, bytesLeft: bytesLeft)])
    }

    /// Waits until a transfer has received this many bytes or has ended, and returns how many it has received
    /// then; `nil` for its end.
    private func wait(for number: Int64, received least: Int64?) async -> Int64? {
        for await report in reports {
            switch report {
            case .progress(let id, _, _, let received, _) where id.rawValue == number:
                if let least, received >= least { return received }
            case .ended(let id, _, _, _) where id.rawValue == number: return nil
            default: continue
            }
        }
        return nil
    }

    @Test func `a bundle moves at most one read of the network more than it may`() async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        begin(1, size: 8 << 20, bytesLeft: 1_000_000)
        let received = try #require(await wait(for: 1, received: 1_000_000))
        #expect(received <= 1_000_000 + Self.oneRead)
        program.allow(bundle, bytes: nil)
        #expect(await wait(for: 1, received: nil) == nil)
        program.shutDown()
    }

    @Test(arguments: [
        "extended/e?size=1000&extra=50000000", "redirect/r?body=1000000&to=/file/n?size=1",
        "redirect/r?status=300&body=1000000&to=/file/n?size=1",
    ])
    func `bytes that belong to no file count, too`(place: String) async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        begin(1, place, bytesLeft: 300_000)
        var ended: (TransferAttemptEnd, Int64)?
        for await report in reports {
            if case .ended(_, let end, let received, _) = report { ended = (end, received) }
            if ended != nil { break }
        }
        let (end, received) = try #require(ended)
        #expect(
            end.kind == .faulty && end.failure?.message.contains("may move no more bytes") == true, "\(end)")
        #expect((300_000..<3_000_000).contains(received), "\(received)")
        program.shutDown()
    }

    /// A host that has not yet read what the last transfer moved says a number that is too large.
    @Test func `the bytes of a bundle are also counted between two transfers`() async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        begin(1, size: 80_000, bytesLeft: 100_000)
        #expect(await wait(for: 1, received: nil) == nil)
        begin(2, size: 80_000, bytesLeft: 100_000)
        let received = try #require(await wait(for: 2, received: 20_000))
        #expect(received <= 20_000 + Self.oneRead)
        program.allow(bundle, bytes: 1 << 20)
        #expect(await wait(for: 2, received: nil) == nil)
        program.allow(bundle, bytes: nil)
        begin(3, size: 2 << 20, bytesLeft: nil)
        #expect(await wait(for: 3, received: nil) == nil)
        program.shutDown()
    }
}
