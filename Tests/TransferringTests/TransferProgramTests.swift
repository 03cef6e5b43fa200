import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing
import Transferring

/// What the host does with a program that violates the protocol, ends or says nothing.
@Suite(.system) struct TransferProgramTests {
    /// What a test's host has heard, in order.
    private final class Ear: Sendable {
        let reports = Mutex<[TransferReport]>([])
        let problems = Mutex<[String]>([])
        private let heard = DispatchSemaphore(value: 0)

        func hear(_ report: TransferReport) {
            reports.withLock { $0.append(report) }
            if case .ended = report { heard.signal() }
        }

        /// Waits until an attempt has ended, and returns its end.
        func end() throws -> (end: TransferAttemptEnd, received: Int64) {
            guard heard.wait(timeout: .now() + 60) == .success else { throw HostFault("no attempt ended") }
            for case .ended(_, let end, let received, _) in reports.withLock(\.self) {
                return (end, received)
            }
            throw HostFault("no attempt ended")
        }
    }

    private struct HostFault: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private func attempt(
        _ path: String, silence: Duration = .seconds(60)
    ) throws -> (end: TransferAttemptEnd, received: Int64, ear: Ear) {
        let root = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Programs/transfer-program.py").path
        var configuration = TransferProgram.Configuration(programPath: script, layers: [])
        configuration.silenceLimit = silence
        let ear = Ear()
        let program = TransferProgram(
            configuration: configuration,
            files: TransferFiles(root: root.path, dataDirectory: { "\(root.path)/data/\($0)" }),
            report: { reports in reports.forEach { ear.hear($0) } },
            problem: { problem in ear.problems.withLock { $0.append(problem) } })
        let request = TransferRequest(
            bundle: try BundleIdentifier("com.example"), direction: .download, url: "http://a/\(path)")
        program.begin([
            TransferProgram.Attempt(
                Transfer(
                    id: TransferID(rawValue: 1), request: request, submittedAt: WallTime(milliseconds: 0)))
        ])
        let (end, received) = try ear.end()
        program.shutDown()
        return (end, received, ear)
    }

    @Test(arguments: [
        ("version", "it speaks version 9 of the protocol, not 3"),
        ("failed", "the lock of the directory: No locks available"),
        ("exit", "it exited with status 127"),
    ])
    func `a program that ends loses its transfers, which say why`(path: String, reason: String) throws {
        let (end, _, ear) = try attempt(path)
        #expect(end.kind == .lost)
        let message = try #require(end.failure?.message)
        #expect(message.hasPrefix("the program that makes transfers ended: "))
        #expect(message.contains(reason), "\(message)")
        #expect(ear.problems.withLock(\.self) == [message])
    }

    /// An attempt that is ordered while the program ends would otherwise stay under way for ever.
    @Test func `every attempt of a program that ends again and again ends`() throws {
        let reports = Mutex<Set<TransferID>>([])
        let all = DispatchSemaphore(value: 0)
        let program = TransferProgram(
            configuration: TransferProgram.Configuration(programPath: "/bin/true", layers: []),
            files: TransferFiles(root: "/nowhere", dataDirectory: { "/nowhere/\($0)" }),
            report: { ended in
                reports.withLock { reports in
                    for case .ended(let id, _, _, _) in ended { reports.insert(id) }
                    if reports.count == 20_000 { all.signal() }
                }
            },
            problem: { _ in })
        let request = TransferRequest(
            bundle: try BundleIdentifier("com.example"), direction: .download, url: "http://a/")
        program.begin(
            (1...20_000).map {
                TransferProgram.Attempt(
                    Transfer(
                        id: TransferID(rawValue: $0), request: request,
                        submittedAt: WallTime(milliseconds: 0)))
            })
        #expect(all.wait(timeout: .now() + 60) == .success)
    }

    /// A stopped program would otherwise hold up all transfers for ever.
    @Test func `a program that says nothing is killed`() throws {
        let (end, _, _) = try attempt("silence", silence: .milliseconds(200))
        #expect(end.kind == .lost)
        #expect(
            end.failure?.message
                == "the program that makes transfers ended: it said nothing for 200ms, and was killed")
    }

    @Test func `numbers beyond every length are cut, and do not overflow`() throws {
        let (end, received, ear) = try attempt("numbers")
        #expect(end.kind == .faulty && end.completed == 1 << 50 && received == 1 << 50)
        #expect(end.failure?.code == 1 << 50)
        #expect(end.retryAfter == .seconds(1 << 40))
        guard case .response(_, let response, let total, _)? = ear.reports.withLock(\.first) else {
            Issue.record("no response")
            return
        }
        #expect(response.status == 200 && total == 1 << 50)
    }

    @Test func `the file of an older host stays if it can't get its present name`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for name in ["1", "1.data"] {
            try FileManager.default.createDirectory(
                at: root.appending(path: name), withIntermediateDirectories: true)
        }
        try Data("complete".utf8).write(to: root.appending(path: "1/data"))
        let files = TransferFiles(root: root.path, dataDirectory: { "\(root.path)/data/\($0)" })
        #expect(throws: SystemCallError.self) { try files.sweep(keeping: [TransferID(rawValue: 1)]) }
        #expect(try String(contentsOf: root.appending(path: "1/data"), encoding: .utf8) == "complete")
    }

    @Test func `files that no transfer needs are removed, and nothing else`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for name in ["1", "2", "03", "other"] {
            try FileManager.default.createDirectory(
                at: root.appending(path: name), withIntermediateDirectories: true)
        }
        let names = [
            "1/part", "2/part", "2/resume", "4.data", "4.part", "5.resume.new", "2.other", "05.data",
        ]
        for name in names { try Data(name.utf8).write(to: root.appending(path: name)) }
        let files = TransferFiles(root: root.path, dataDirectory: { "\(root.path)/data/\($0)" })
        #expect(
            try files.sweep(keeping: [TransferID(rawValue: 2)])
                == [1, 4, 5].map { TransferID(rawValue: $0) })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: root.path).sorted()
                == ["03", "05.data", "2.other", "2.part", "2.resume", "other"])
        #expect(try String(contentsOf: root.appending(path: "2.part"), encoding: .utf8) == "2/part")
        let missing = TransferFiles(root: root.path + "/none", dataDirectory: { "\($0)" })
        #expect(try missing.sweep(keeping: []).isEmpty)
    }
}
