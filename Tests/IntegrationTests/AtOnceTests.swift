import ControlClient
import ControlWire
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// Calls that arrive together share one commit; the host handles the store's answers in the order of the
/// calls.
@Suite(.system) struct AtOnceTests {
    private static let counting = "com.example.counting.count"

    @Test func `submissions of one identifier at once leave the newest pending, and it can be cancelled`()
        async throws
    {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try host.start()
        let client = ControlClient(socketPath: host.socket.path)
        let identifier = try TaskIdentifier(Self.counting)
        for _ in 1...5 {
            let accepted = try await withThrowingTaskGroup(of: RequestID.self) { group in
                for _ in 1...40 {
                    group.addTask {
                        var submission = SubmissionMessage(identifier: identifier)
                        submission.earliestBeginDate = Timestamp(
                            WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 86_400_000))
                        return try await client.submit(submission).request.request
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(accepted).count == 40)
            #expect(try await client.pending().map(\.request.request) == [accepted.max()])
            #expect(try await client.cancel(.identifier(identifier)).requests == [accepted.max()])
            #expect(try await client.pending().isEmpty)
        }
        #expect(host.stop() == 0)
        // The store of the restarted host agrees with the answers.
        try host.start()
        #expect(try await client.pending().isEmpty)
        #expect(host.stop() == 0)
    }

    @Test func `what is asked while the host stops is answered, and the host ends`() async throws {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try host.start()
        let client = ControlClient(socketPath: host.socket.path)
        let unknown = try TaskIdentifier("com.example.counting.unknown")
        let answered = Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...20 {
                    // Each submission makes the host read its directories again before it answers.
                    group.addTask { _ = try? await client.submit(SubmissionMessage(identifier: unknown)) }
                }
            }
        }
        #expect(host.stop() == 0)
        await answered.value
    }
}
