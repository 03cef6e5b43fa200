import TaskHostTestSupport
import TaskModel
import Testing

@testable import BgtaskCommands

/// Tables on terminals that are narrower than all their columns.
@Suite(.system, .timeLimit(.minutes(3))) struct NarrowTableTests {
    /// Two tasks of one bundle, and what both wait for.
    private func host() throws -> ScriptedHost {
        let host = ScriptedHost()
        let requests = try ["com.example.accounting.nightly", "com.example.accounting.weekly"].enumerated()
            .map {
                ScriptedHost.request(
                    TaskSubmission(identifier: try TaskIdentifier($1), origin: .client), id: Int64(17 + $0))
            }
        host.edit {
            $0.pending = requests.map { PendingRequest(request: $0, verdicts: [ScriptedHost.veto]) }
            $0.launches = requests.map {
                ScriptedHost.ended($0, id: $0.id.rawValue, .expired, .leaseEnded)
            }
        }
        return host
    }

    /// The output of a command on a terminal.
    private func lines(_ arguments: String..., socket: String, width: Int) async -> [String] {
        let result = await bgtask(
            arguments + ["--socket", socket], environment: ["NO_COLOR": "1"], width: width)
        #expect(result.status == 0, "\(result)")
        let lines = result.output.split(separator: "\n").map(String.init)
        // The sentence about transfers below the table is not cut, because it ends with a command.
        for line in lines where !line.contains("bgtask transfers") { #expect(line.count <= width, "\(line)") }
        return lines
    }

    @Test(arguments: [60, 80]) func `pending keeps what a request waits for, and leaves out its kind`(
        width: Int
    )
        async throws
    {
        try await serving(host()) { _, socket in
            let lines = await lines("pending", socket: socket, width: width)
            let head = try #require(lines.first)
            #expect(head.contains("WHAT IT WAITS FOR") && !head.contains("KIND"), "\(head)")
            let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(text.contains("External power is not connected"), "\(text)")
            #expect(lines[1].contains("nightly"), "\(lines)")
        }
    }

    @Test(arguments: [60, 80]) func `launches keep the outcome, the reason and the start`(width: Int)
        async throws
    {
        try await serving(host()) { _, socket in
            let lines = await lines("launches", socket: socket, width: width)
            let head = try #require(lines.first)
            #expect(head.hasSuffix("STARTED") || head.contains("STARTED  "), "\(head)")
            #expect(!head.contains("ATTEMPT"), "\(head)")
            for (line, name) in zip(lines.dropFirst(), ["nightly", "weekly"]) {
                #expect(line.contains("expired") && line.contains("leaseEnded"), "\(line)")
                #expect(line.contains(name) && line.contains("1 min ago"), "\(line)")
            }
        }
    }

    @Test func `a wide terminal and a pipe get every column`() async throws {
        try await serving(host()) { _, socket in
            let wide = await lines("pending", socket: socket, width: 300)
            #expect(wide.first?.contains("KIND") == true && wide.first?.contains("TAGS") == true, "\(wide)")
            let piped = await bgtask("pending", socket: socket)
            #expect(piped.output.contains("com.example.accounting.nightly  processing"), "\(piped)")
        }
    }
}
