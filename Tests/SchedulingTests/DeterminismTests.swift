import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct DeterminismTests {
    static func text<Value: Encodable>(_ value: Value) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The scheduler's answers to a random history, also as one text.
    static func answers(seed: UInt64) throws -> (log: [LoggedEvent], text: String) {
        let host = RandomHost(seed: seed)
        for _ in 0..<400 { host.step() }
        return (host.log, try host.log.map { try text($0.actions) }.joined(separator: "\n"))
    }

    @Test(arguments: [3, 14, 159])
    func `a recorded history replays to the same bytes`(seed: Int) throws {
        let (log, text) = try Self.answers(seed: UInt64(seed))
        let recorded = try log.map { try Self.text($0) }
        var scheduler = Scheduler()
        var replayed: [String] = []
        for line in recorded {
            let entry = try JSONDecoder().decode(LoggedEvent.self, from: Data(line.utf8))
            replayed.append(try Self.text(scheduler.handle(entry.event, at: entry.at)))
        }
        #expect(replayed.joined(separator: "\n") == text)
        #expect(log.contains { !$0.actions.isEmpty })
    }

    @Test func `another process, whose hash tables are in another order, says the same bytes`() async throws {
        let (_, text) = try Self.answers(seed: 26)
        let digest = Self.digest(text)
        await #expect(processExitsWith: .success) { [digest = digest as UInt64] in
            let again = try DeterminismTests.answers(seed: 26).text
            precondition(DeterminismTests.digest(again) == digest, "another process said something else")
        }
    }

    @Test(arguments: 1...8)
    func `what is told before the start may come in any order`(seed: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let now = VirtualMoments().now()
        let manifests = [Manifest.make("com.example.b"), Manifest.sample]
        var events: [SchedulerEvent] = (1...40).map { number in
            let bundle = number % 2 == 0 ? "com.example.a" : "com.example.b"
            var submission = TaskSubmission(identifier: .sample("\(bundle).p\(number)"), origin: .client)
            if number % 3 == 0 { submission.earliestBeginDate = now.wall + .seconds(number % 5) }
            return .submitted(
                TaskRequest(
                    id: RequestID(rawValue: Int64(number)), submission: submission,
                    bundle: try! BundleIdentifier(bundle), kind: .processing, submittedAt: now.wall,
                    attempt: 1,
                    notBefore: nil, deadline: now.wall + .seconds(number % 7 * 1000)))
        }
        var permitting = manifests
        for index in permitting.indices {
            let bundle = permitting[index].bundle
            permitting[index].tasks = (1...40).map {
                TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).p\($0)"), kind: .processing)
            }
        }
        events += [.handlersChanged(permitting), .conditionsChanged(.simulatedStart)]
        events += [.bundleRestored(.sample, BundleState())]

        func run(_ events: [SchedulerEvent]) throws -> String {
            var scheduler = Scheduler()
            for event in events { #expect(scheduler.handle(event, at: now) == []) }
            var actions = scheduler.handle(.started, at: now)
            var launch: Int64 = 0
            for step in 1...60 {
                let moment = now.advanced(by: .seconds(step))
                for case .launch(let id, _, _, _) in actions.suffix(8) {
                    launch += 1
                    actions += scheduler.handle(.launchStarted(LaunchID(rawValue: launch), id), at: moment)
                    actions += scheduler.handle(
                        .launchEnded(LaunchID(rawValue: launch), putBack: nil), at: moment)
                }
                actions += scheduler.handle(.timePassed, at: moment)
            }
            return try Self.text(actions)
        }
        #expect(try run(events) == run(events.shuffled(using: &numbers)), "seed \(seed)")
    }

    /// The FNV-1a hash of a text.
    static func digest(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
