import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// `bgtask transfer --input`, with a host that plays the ends of the transfers.
@Suite(.system, .timeLimit(.minutes(2))) struct SeveralTransfersTests {
    /// The file with the addresses, in a directory that also gets the files.
    private static func list(_ count: Int, in folder: String) throws -> String {
        let lines = (1...count).map { "http://a/\($0) f\($0)" }
        let file = folder + "/list"
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    /// The command asked for the records of early failures when all had ended, and then ended with the
    /// refusal of the host, although most files were there.
    @Test func `a failure that the host has forgotten is told by its end`() async throws {
        try await serving { host, socket in
            let folder = try TemporaryFolder()
            let list = try Self.list(3, in: folder.path)
            host.edit {
                $0.forgotten = [TransferID(rawValue: 5)]
                $0.onTransfers = { host, ids in
                    for id in ids { host.send(.transferEnded(id, id == ids[0] ? .refused : .succeeded)) }
                }
            }
            let arguments = ["transfer", "--input", list, "--to", folder.path, "--wait"]
            let result = await bgtask(arguments + ["--socket", socket])
            #expect(result.status == 1, "\(result)")
            #expect(
                result.output.split(separator: "\n") == [
                    "T5 to T7 download 3 files",
                    "T5 refused: the host no longer has its record; see bgtask logs",
                    "2 of 3 downloads succeeded",
                ])
            host.edit { $0.forgotten = [TransferID(rawValue: 8)] }
            let object = await bgtask(arguments + ["--json", "--socket", socket]).object
            #expect(object["succeeded"] as? Int == 2)
            #expect((object["failed"] as? [Any])?.isEmpty == true)
            let forgotten = object["forgotten"] as? [[String: String]]
            #expect(forgotten == [["transfer": "T8", "outcome": "refused"]])
        }
    }

    @Test func `a later part that is refused says what the host accepted before`() async throws {
        try await serving { host, socket in
            let folder = try TemporaryFolder()
            // Each counts with a little more than 500 bytes, and a part has 256 KiB.
            let list = try Self.list(600, in: folder.path)
            host.edit {
                $0.onTransfers = { host, _ in
                    host.edit {
                        $0.refusal = SubmissionError(
                            code: .unavailable, subject: "disk", finding: "full", remedy: "free some")
                    }
                }
            }
            let result = await bgtask("transfer", "--input", list, "--to", folder.path, socket: socket)
            let accepted = host.script.withLock { $0.lastTransfer } - 4
            #expect((1..<600).contains(accepted))
            #expect(result.status == 4, "\(result)")
            let line = "the host accepted only the first \(accepted) of 600 downloads, T5 to T\(accepted + 4)"
            #expect(result.errors.contains(line))
            #expect(result.errors.contains("bgtask: refused: disk: full"))
        }
    }
}
