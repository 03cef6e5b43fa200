import ControlClient
import ControlWire
import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// Calls that arrive while a host begins. They wait until it has begun, and then they are answered.
@Suite(.system) struct StartRaceTests {
    private static let identifier = "com.example.counting.count"

    @Test func `every submission that arrives while the host begins is answered`() async throws {
        let identifier = try TaskIdentifier(Self.identifier)
        for _ in 1...12 {
            let host = try HostProcess()
            try EndToEndTests.install(in: host)
            try host.launch()
            let client = ControlClient(socketPath: host.socket.path)
            let answers = Answers()
            let callers = Task { [client] in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 1...24 {
                        group.addTask {
                            // Until the host listens on its socket, each call fails.
                            while !Task.isCancelled, (try? await client.version()) == nil {
                                await Task.yield()
                            }
                            var submission = SubmissionMessage(identifier: identifier)
                            submission.earliestBeginDate = Timestamp(
                                WallTime(
                                    milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 86_400_000))
                            if (try? await client.submit(submission)) != nil { answers.add() }
                        }
                    }
                }
            }
            let deadline = Date(timeIntervalSinceNow: 20)
            while answers.count < 24, Date() < deadline { await Task.yield() }
            #expect(answers.count == 24)
            callers.cancel()
            // A host that stops refuses every call that waits, so that this test ends.
            #expect(host.stop() == 0)
            await callers.value
        }
    }
}

private final class Answers: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}
