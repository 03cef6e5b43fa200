import ControlChannel
import ControlWire
import TaskHostTestSupport
import TaskModel
import Testing

@testable import ControlClient

/// Rows without keys, which tables are made of, say the same as the objects with keys.
@Suite struct ListingRowTests {
    private var random = SeededNumbers(seed: 77)

    /// Texts that a writer must escape, and that a reader must not cut.
    private static let texts = [
        "", "a", "\"a\\b\"/\u{0}\u{1}\u{1f}\n\t\u{8}\u{c}\r\u{7f} ö€😀", "[\"\\u0041\"],", "\\", "\u{2028}",
    ]

    private mutating func text() -> String { Self.texts.randomElement(using: &random) ?? "" }

    private mutating func time() -> WallTime {
        WallTime(milliseconds: Int64.random(in: -1_000_000...2_000_000_000_000, using: &random))
    }

    private mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? {
        Bool.random(using: &random) ? value(&self) : nil
    }

    private mutating func request(_ id: Int64) throws -> TaskRequest {
        var submission = TaskSubmission(identifier: try TaskIdentifier("org.example.t\(id)"), origin: .client)
        submission.earliestBeginDate = maybe { $0.time() }
        submission.tags = try ["a", "b-2", "c.d_e"].prefix(Int.random(in: 0...3, using: &random))
            .map { try Tag($0) }
        return TaskRequest(
            id: RequestID(rawValue: id), submission: submission, bundle: try BundleIdentifier("org.example"),
            kind: TaskKind.allCases.randomElement(using: &random) ?? .processing, submittedAt: time(),
            attempt: Int.random(in: 1...Int.max, using: &random), notBefore: maybe { $0.time() },
            deadline: time())
    }

    private mutating func summary(_ id: Int64) throws -> PendingSummary {
        let isReady = Bool.random(using: &random)
        let reason = Verdict(
            policy: "Power", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(quantity: "conditionOdd", required: "on", observed: text(), remedy: nil)
            ].filter { _ in Bool.random(using: &random) }, since: nil)
        return PendingSummary(
            request: try request(id), reason: isReady ? nil : reason,
            otherReasons: isReady ? 0 : Int.random(in: 0...2, using: &random), headline: text())
    }

    private mutating func launch(_ id: Int64) throws -> LaunchRecord {
        var record = LaunchRecord(
            id: LaunchID(rawValue: id), request: try request(id), token: id, startedAt: time(),
            isolation: "cgroup", libraryHash: nil, isSimulated: false)
        record.state = LaunchState.allCases.randomElement(using: &random) ?? .running
        record.expiration = maybe { Reason.allCases.randomElement(using: &$0.random) ?? .simulated }
        record.cpuTime = .nanoseconds(Int64.random(in: 0...100_000_000_000_000, using: &random))
        record.cpuIsLowerBound = Bool.random(using: &random)
        record.progress = maybe {
            TaskProgress(completed: .random(in: .min ... .max, using: &$0.random), total: 9)
        }
        if record.progress != nil { record.progress?.message = maybe { $0.text() } }
        if record.state == .ended {
            record.endedAt = time()
            let outcome = Outcome.allCases.randomElement(using: &random) ?? .failed
            record.end = LaunchEnd(
                outcome: outcome,
                reason: maybe { Reason.allCases.randomElement(using: &$0.random) ?? .simulated })
        }
        return record
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        #expect(bytes.isEmpty || bytes.last == UInt8(ascii: "\n"))
        return bytes.split(separator: UInt8(ascii: "\n"))
    }

    @Test func `random rows say what the objects with keys say`() throws {
        var copy = self
        let pending = try (1...500).map { try copy.summary($0) }
        let rows = try Self.lines(PendingListingRow.lines(of: pending)).map(PendingListingRow.init(line:))
        #expect(rows == pending.map { PendingListingRow(PendingSummaryMessage($0)) })
        let launches = try (1...500).map { try copy.launch($0) }
        let summaries = launches.map(LaunchSummary.init)
        let read = try Self.lines(LaunchListingRow.lines(of: summaries)).map(LaunchListingRow.init(line:))
        #expect(read == launches.map { LaunchListingRow(LaunchMessage($0)) })
    }

    @Test func `each line is JSON`() throws {
        var copy = self
        let pending = try (1...50).map { try copy.summary($0) }
        for line in Self.lines(PendingListingRow.lines(of: pending)) {
            // A decoder of strings gets past the valid JSON, and stops at the first value, which is a number.
            #expect(throws: DecodingError.self) {
                try ControlJSON.decode([String].self, from: .init(line))
            }
        }
    }

    @Test func `values that a newer host adds are ignored`() throws {
        let row = Array(#"[7,"org.example.a","processing",1,0,null,[],"Waits.",{"new":1}]"#.utf8)
        #expect(try PendingListingRow(line: row[...]).waits == "Waits.")
    }

    @Test(arguments: [
        "", "[", "[]", "7", #"["7","org.example.a","processing",1,0,null,[],""]"#,
        #"[7,"org.example.a","processing",1,0,null,[],""#, #"[7,"org.example.a","processing",1,0,null,[],"]"#,
        #"[7,"org.example.a","other",1,0,null,[],""]"#,
        #"[7,"not an identifier","processing",1,0,null,[],""]"#,
        #"[7,"org.example.a","processing",99999999999999999999,0,null,[],""]"#,
        #"[7,"org.example.a","processing",9223372036854775808,0,null,[],""]"#,
        #"[7,"org.example.a","processing",-,0,null,[],""]"#,
        #"[7,"org.example.a","processing",1,0,nul,[],""]"#,
        #"[7,"org.example.a","processing",1,0,null,["a""b"],""]"#,
        #"[7,"org.example.a","processing",1,0,null,["a"#,
        #"[7,"org.example.a","processing",1,0,null,[],"\"#,
        #"[7,"org.example.a","processing",1,0,null,[],"\u00"#,
        #"[7,"org.example.a","processing",1,0,null,[],"\u00e9"]"#,
        #"[7,"org.example.a","processing",1,0,null,[],"\x"]"#, #"[7 ,"org.example.a"]"#,
    ])
    func `a row that is not valid is refused`(text: String) {
        #expect(throws: (any Error).self) { try PendingListingRow(line: Array(text.utf8)[...]) }
    }

    @Test func `the refusal of a host without rows is known`() async throws {
        try await serving { _, socket in
            // This route never had the parameter, as no route of an older host.
            let answer = try ControlConnection(path: socket).send("GET", "/v1/requests/R1?form=rows")
            let message = try ControlJSON.decode(ErrorMessage.self, from: .init(answer.body))
            #expect(ControlClientError.refused(message).isOfHostWithoutRows)
            let other = try ControlConnection(path: socket).send("GET", "/v1/requests?form=table")
            let refusal = try ControlJSON.decode(ErrorMessage.self, from: .init(other.body))
            #expect(!ControlClientError.refused(refusal).isOfHostWithoutRows)
        }
    }
}
