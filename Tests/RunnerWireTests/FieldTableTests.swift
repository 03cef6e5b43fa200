import Foundation
import Testing

@testable import RunnerWire

/// Both sides of the protocol describe their messages in tables, which must be equal.
@Suite struct FieldTableTests {
    /// One message of the Swift side.
    struct Row {
        let name: String
        let kind: UInt8
        let rules: [FieldRule]

        init<Message: WireMessage>(_ type: Message.Type) {
            name = "\(type)"
            kind = type.kind
            rules = type.table.rules
        }
    }

    static let messages: [Row] = [
        Row(TaskLaunchMessage.self),
        Row(PayloadMessage.self),
        Row(RestoredCheckpointMessage.self),
        Row(ProgramMessage.self),
        Row(StartMessage.self),
        Row(CommandMessage.self),
        Row(TaskExpireMessage.self),
        Row(ReplyMessage.self),
        Row(SampleMessage.self),
        Row(ConditionsMessage.self),
        Row(ReadyMessage.self),
        Row(TaskProgressMessage.self),
        Row(LogMessage.self),
        Row(CheckpointMessage.self),
        Row(SubmitMessage.self),
        Row(TaskCancelMessage.self),
        Row(PendingMessage.self), Row(SessionCallMessage.self),
        Row(BeginAssertionMessage.self),
        Row(EndAssertionMessage.self),
        Row(StackMessage.self),
        Row(AdviceMessage.self),
        Row(FaultMessage.self),
        Row(TitleMessage.self),
        Row(CrashMessage.self),
        Row(LoadFailedMessage.self),
        Row(DoneMessage.self),
        Row(TemplateMessage.self),
        Row(SpawnMessage.self),
        Row(KillMessage.self),
        Row(RetireMessage.self),
        Row(KillTemplateMessage.self),
        Row(PrepareMessage.self),
        Row(HelloMessage.self),
        Row(SpawnedMessage.self),
        Row(ExitedMessage.self),
        Row(TemplateStartedMessage.self),
        Row(TemplateReadyMessage.self),
        Row(TemplateFailedMessage.self),
        Row(SpawnFailedMessage.self),
        Row(UnkillableMessage.self),
        Row(PreparedMessage.self),
        Row(ObservedMessage.self),
    ]

    @Test func `every message has the fields that the runner's table gives it`() throws {
        let runner = try RunnerTables()
        #expect(Set(runner.tables.keys) == Set(Self.messages.map(\.kind)))
        for message in Self.messages {
            #expect(message.rules == runner.tables[message.kind], "\(message.name)")
        }
    }

    @Test func `every message about transfers has the fields that the program's table gives it`() throws {
        let messages: [Row] = [
            Row(TransferBeginMessage.self), Row(TransferCancelMessage.self), Row(TransferHelloMessage.self),
            Row(TransferResponseMessage.self), Row(TransferProgressMessage.self),
            Row(TransferEndedMessage.self), Row(TransferAliveMessage.self), Row(TransferFailedMessage.self),
            Row(TransferPromoteMessage.self), Row(TransferAllowMessage.self), Row(TransferBeganMessage.self),
        ]
        let program = try RunnerTables(
            kindsIn: "Sources/Runner/bgtask-transfer/orders.h",
            tablesIn: "Sources/Runner/bgtask-transfer/orders.c")
        #expect(Set(program.tables.keys) == Set(messages.map(\.kind)))
        for message in messages {
            #expect(message.rules == program.tables[message.kind], "\(message.name)")
        }
    }

    @Test func `a pending request inside a reply has the fields that the runner's table gives it`() throws {
        #expect(ReplyMessage.PendingRequest.table.rules == (try RunnerTables().pendingRequest))
    }

    @Test func `every golden message writes only fields of its table`() throws {
        for golden in GoldenCase.all {
            let bytes = try GoldenFiles.bytes(golden.name)
            let message = try #require(Self.messages.first { $0.kind == bytes[4] })
            try bytes[8...].withUnsafeBytes { body in
                var fields = FieldReader(body)
                while let field = try fields.next() {
                    #expect(message.rules.contains { $0.tag == field.tag }, "\(golden.name): \(field.tag)")
                }
            }
        }
    }
}

/// The tables of `messages.c`, read from its text.
struct RunnerTables {
    private(set) var tables: [UInt8: [FieldRule]] = [:]
    private(set) var pendingRequest: [FieldRule] = []

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    init(
        kindsIn header: String = "Sources/Runner/bgtask-runner/frames.h",
        tablesIn table: String = "Sources/Runner/bgtask-runner/messages.c"
    ) throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        }
        var kinds: [String: UInt8] = [:]
        for match in try text(header)
            .matches(of: #/((?:MESSAGE|TRANSFER)_[A-Z_]+) = 0x([0-9A-F]{2})/#)
        {
            kinds[String(match.1)] = UInt8(match.2, radix: 16)
        }
        let source = try text(table)
        let parts = source.components(separatedBy: "const struct message_rule pending_request_rule")
        try #require(parts.count == 2)
        let starts = parts[0].matches(of: #/\{((?:MESSAGE|TRANSFER)_[A-Z_]+), \{/#)
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : parts[0].endIndex
            let kind = try #require(kinds[String(start.1)])
            tables[kind] = try Self.rules(parts[0][start.range.upperBound..<end])
        }
        pendingRequest = try Self.rules(parts[1][..<(parts[1].firstIndex(of: ";") ?? parts[1].endIndex)])
    }

    private static func rules(_ row: Substring) throws -> [FieldRule] {
        try row.matches(of: #/\b(U64|I64|FLAG|TEXTS|TEXT|BYTES|BODIES)(_REQUIRED)?\((\d+)(?:, (\w+))?\)/#)
            .map { match in
                let type: FieldType =
                    switch match.1 {
                    case "U64": .u64
                    case "I64": .i64
                    case "FLAG": .flag
                    case "TEXT", "TEXTS": .text
                    default: .bytes
                    }
                let names = [
                    "BGTASK_BLOB_MAX": FrameLimits.maximumBlob, "VALIDATOR_MAX": 512,
                    "HEADER_BYTES_MAX": 49_152, "ANSWER_MAX": 16_384,
                ]
                let limit = match.4.map { names[String($0)] ?? Int($0) ?? -1 }
                return FieldRule(
                    try #require(UInt8(match.3)), type, isRequired: match.2 != nil,
                    isRepeated: match.1 == "TEXTS" || match.1 == "BODIES", limit: limit ?? 0)
            }
    }
}
