import ControlChannel
import ControlClient
import ControlWire
import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import BgtaskCommands

/// Listings in pages. If a reader of the output leaves early, the command requests no more pages.
@Suite(.system, .timeLimit(.minutes(2))) struct ListingTests {
    private static func pending(_ ids: ClosedRange<Int64>) throws -> [PendingRequest] {
        try ids.map { id in
            let submission = TaskSubmission(
                identifier: try TaskIdentifier("org.example.t\(id)"), origin: .client)
            return PendingRequest(
                request: ScriptedHost.request(submission, id: id), verdicts: [ScriptedHost.veto])
        }
    }

    @Test func `pages of pending requests follow each other to the last`() async throws {
        try await serving { host, socket in
            let rows = try Self.pending(1...7)
            host.edit { $0.pending = rows }
            let client = ControlClient(socketPath: socket)
            var page = try await client.pendingPage(after: nil, limit: 3)
            #expect(page.requests.map(\.request.request.rawValue) == [1, 2, 3])
            #expect(page.next == RequestID(rawValue: 3))
            #expect(page.requests.first?.verdicts.first?.policy == ScriptedHost.veto.policy)
            // A page can also start after a request that is no longer pending.
            host.edit { $0.pending.removeAll { $0.request.id.rawValue == 3 } }
            page = try await client.pendingPage(after: page.next, limit: 4)
            #expect(page.requests.map(\.request.request.rawValue) == [4, 5, 6, 7] && page.next == nil)
            let short = try await client.pendingSummaries(after: RequestID(rawValue: 5))
            #expect(short.requests.map(\.identifier.rawValue) == ["org.example.t6", "org.example.t7"])
            #expect(short.requests.first?.reason?.contains("xternal power") == true && short.next == nil)
            #expect(host.asked.last == "pending after R5 500")
        }
    }

    @Test func `rows with copied answers have the bytes of the encoder`() throws {
        var rows = try Self.pending(1...6)
        var other = ScriptedHost.veto
        other.score = 0.25
        other.since = ScriptedHost.start
        // Compared with the row before it, a row has the same answers, other ones, fewer or more.
        for (index, verdicts) in [[], [other], [other], [ScriptedHost.veto, other], [other, other]]
            .enumerated()
        {
            rows[index + 1].verdicts = verdicts
        }
        rows[2].request.submission.title = #""verdicts":[]"#
        var writer = PendingRequestWriter()
        for row in rows {
            var text: [UInt8] = []
            try writer.write(row, to: &text)
            let expected = try ControlJSON.line(PendingRequestMessage(row))
            #expect(String(decoding: text, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        }
    }

    @Test func `a page that is written by hand has the bytes of the encoder`() throws {
        let row = try #require(try Self.pending(1...1).first)
        var veto = ScriptedHost.veto
        veto.rationale = [
            Rationale(
                quantity: "conditionOdd", required: "on",
                observed: "\"a\\b\"/\u{1}\u{1f}\n\t\u{8}\u{c}\r\u{7f} ö€😀",
                earliestChange: nil, remedy: nil)
        ]
        var dated = row.request
        dated.notBefore = ScriptedHost.start
        let rows = [
            PendingSummary(request: row.request, reason: nil, otherReasons: 0),
            PendingSummary(request: dated, reason: veto, otherReasons: 12),
        ]
        for next in [nil, RequestID(rawValue: 5)] {
            for count in 0...2 {
                let page = PendingSummaryPageMessage(ListingPage(rows: Array(rows.prefix(count)), next: next))
                #expect(page.json == [UInt8](try ControlJSON.line(page)))
            }
        }
    }

    @Test func `an array of all pending requests comes in parts, each request on its own line`() async throws
    {
        try await serving { host, socket in
            let rows = try Self.pending(1...1203)
            host.edit { $0.pending = rows }
            let result = await bgtask("pending", "--json", socket: socket)
            #expect(result.status == 0 && result.rows.count == 1203)
            #expect(result.output.split(separator: "\n").count == 1205)
            #expect(
                host.asked == ["pending after - 500", "pending after R500 500", "pending after R1000 500"])
            host.edit { $0.pending = [] }
            #expect(await bgtask("pending", "--json", socket: socket).rows.isEmpty)
            let nothing = await bgtask("pending", socket: socket).output
            #expect(nothing.hasPrefix("Nothing is pending.\n1 transfer has not ended. To list it: bgtask "))
        }
    }

    @Test func `the command follows the pages, and its columns only grow`() async throws {
        try await serving { host, socket in
            let rows = try Self.pending(999...2998)
            host.edit { $0.pending = rows }
            let result = await bgtask("pending", socket: socket)
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 2002 && lines[0].hasPrefix("REQUEST  IDENTIFIER"))
            #expect(lines[1].hasPrefix("R999  ") && lines[2000].hasPrefix("R2998"))
            #expect(lines[2001].hasPrefix("1 transfer has not ended. "))
            #expect(host.asked == ["pending after - 1000", "pending after R1998 1000", "transfers"])
        }
    }

    // A reader such as `head` closes the pipe after its first lines.
    @Test(arguments: [["pending"], ["pending", "--json"], ["launches", "--all"]])
    func `a reader that leaves ends the listing`(arguments: [String]) async throws {
        try await serving { host, socket in
            let rows = try Self.pending(1...20_000)
            host.edit {
                $0.pending = rows
                $0.launches = rows.reversed().map {
                    ScriptedHost.ended($0.request, id: $0.request.id.rawValue, .succeeded, nil)
                }
            }
            let written = Mutex(0)
            let surroundings = Surroundings(
                now: { ScriptedHost.start },
                output: { text in
                    let isFirst = written.withLock { written in
                        written += text.count
                        return written == text.count
                    }
                    if !isFirst { throw POSIXError(.EPIPE) }
                }, errors: { Issue.record("\($0)") })
            let status = await CommandLineTool.run(arguments + ["--socket", socket], in: surroundings)
            #expect(status == 0)
            // The host may make a few more pages, which stay in the socket's buffer, before it notices.
            #expect(host.asked.count < 12, "\(host.asked.count) of 20 or more")
        }
    }

    @Test func `output that can't be written is an error, and help is output, too`() async throws {
        let written = Mutex("")
        let surroundings = Surroundings(
            now: { ScriptedHost.start },
            output: { _ in throw SystemCallError(call: "write", subject: "standard output", code: 28) },
            errors: { text in written.withLock { $0 += text } })
        try await serving { _, socket in
            for arguments in [["pending", "--socket", socket], ["--help"]] {
                #expect(await CommandLineTool.run(arguments, in: surroundings) == 1)
                #expect(written.withLock { $0 }.contains("the output is not complete"))
                written.withLock { $0 = "" }
            }
        }
    }

    @Test func `launches come in pages, and --limit may be more than a page`() async throws {
        try await serving { host, socket in
            let request = ScriptedHost.request(
                TaskSubmission(identifier: try TaskIdentifier("org.example.a"), origin: .client))
            host.edit {
                $0.launches = (1...2500).reversed().map { ScriptedHost.record(request, id: $0) }
            }
            let client = ControlClient(socketPath: socket)
            let page = try await client.launchPage(after: LaunchID(rawValue: 3), limit: 2)
            #expect(page.launches.map(\.launch.rawValue) == [2, 1] && page.next == nil)
            #expect(try await client.launches(limit: 2).map(\.launch.rawValue) == [2500, 2499])
            for (arguments, count) in [(["--limit", "1500"], 1500), (["--all"], 2500), ([], 50)] {
                let plain = await bgtask(["launches", "--socket", socket] + arguments)
                #expect(plain.output.split(separator: "\n").count == count + 1)
                let json = await bgtask(["launches", "--json", "--socket", socket] + arguments)
                #expect(json.rows.count == count)
            }
            let limit = await bgtask("launches", "--limit", "0", socket: socket)
            #expect(limit.status == 2 && limit.errors.contains("Not a valid limit: 0. Use 1 or more."))
        }
    }

    @Test func `the options of launches choose in the host, for the table and for JSON`() async throws {
        try await serving { host, socket in
            let chosen = [
                "launches", "--bundle", "org.example", "--outcome", "failed", "--since",
                "2027-01-15T08:00:00Z", "--tag", "photos", "--socket", socket,
            ]
            for form in [[], ["--json"]] {
                let answer = await bgtask(chosen + form)
                #expect(answer.status == 0, "\(answer)")
                #expect(
                    host.asked.last?.hasSuffix(
                        "tag photos of org.example that failed since 2027-01-15T08:00:00.000Z") == true,
                    "\(host.asked)")
            }
            let table = await bgtask(chosen)
            #expect(table.output == "The host remembers no such launch.\n")
            let wrong = await bgtask("launches", "--outcome", "broken", socket: socket)
            #expect(wrong.status == 2 && wrong.errors.contains("succeeded"), "\(wrong)")
            let route = try ControlConnection(path: socket).send("GET", "/v1/launches?outcome=broken")
            #expect(route.status == 400)
        }
    }

    @Test func `rows come in one answer, and the host makes its pages while the client reads`() async throws {
        try await serving { host, socket in
            let rows = try Self.pending(1...2500)
            host.edit {
                $0.pending = rows
                $0.launches = rows.reversed().map {
                    ScriptedHost.ended($0.request, id: $0.request.id.rawValue, .failed, .handlerFailed)
                }
            }
            let client = ControlClient(socketPath: socket)
            let pending = Mutex<[[PendingListingRow]]>([])
            try await client.readPendingRows { part in pending.withLock { $0.append(part) } }
            #expect(pending.withLock { $0.map(\.count) } == [1000, 1000, 500])
            let pages = try await client.pendingSummaries(after: nil, limit: 1000).requests
            #expect(pending.withLock { $0.first } == pages.map(PendingListingRow.init))
            let launches = Mutex<[LaunchListingRow]>([])
            try await client.readLaunchRows(limit: 1003) { part in launches.withLock { $0 += part } }
            let page = try await client.launchPage(after: nil, limit: 1000).launches
            #expect(launches.withLock { $0.count } == 1003)
            #expect(launches.withLock { Array($0.prefix(1000)) } == page.map(LaunchListingRow.init))
            #expect(
                host.asked.suffix(3) == [
                    "launches all 1000", "launches all 3 after L1501", "launches all 1000",
                ])
            let answer = try ControlConnection(path: socket).send("GET", "/v1/requests?form=rows&tag=none")
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: [
        ("requests?form=columns", "'form'"), ("requests?form=rows&after=", "'after' has no effect"),
        ("launches?form=rows&after=", "'after' has no effect"), ("launches?form=rows&limit=0", "limit"),
        ("requests?after=L5", "'after'"), ("requests?limit=0", "limit"), ("requests?limit=1001", "limit"),
        ("requests?summary=true", "'summary' is only for pages"),
        ("requests?identifier=org.example.a&after=", "'after' has no effect"),
        ("launches?after=R5", "'after'"),
    ])
    func `a query that asks for no page of the listing is refused`(route: String, finding: String)
        async throws
    {
        try await serving { _, socket in
            let answer = try ControlConnection(path: socket).send("GET", "/v1/\(route)")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 400 && text.contains(finding), "\(text)")
        }
    }
}
