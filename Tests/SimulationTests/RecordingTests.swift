import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Recording
@testable import Scheduling

/// The log as files: written entries can be read, and damage is reported.
@Suite struct RecordingTests {
    private static func folder() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    }

    private static func request(_ id: Int64, payload: String? = nil) throws -> TaskRequest {
        var submission = TaskSubmission(identifier: try TaskIdentifier("com.example.a.p1"), origin: .client)
        submission.payload = payload
        return TaskRequest(
            id: RequestID(rawValue: id), submission: submission,
            bundle: try BundleIdentifier("com.example.a"),
            kind: .processing, submittedAt: WallTime(milliseconds: 1), attempt: 1, notBefore: nil,
            deadline: WallTime(milliseconds: 2))
    }

    @Test func `what was recorded is read, in order, without payloads`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
        recorder.record(.timePassed, at: moments.now())
        recorder.begin(at: moments.now(), isContinued: false)
        recorder.record(.submitted(try Self.request(1, payload: #"{"secret":1}"#)), at: moments.now())
        moments.sleepMachine(for: .seconds(3))
        recorder.record(RecordedEntry(at: moments.now(), .willSleep))
        recorder.finish()
        await recorder.run()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count == 1)
        let text = try String(contentsOf: folder.appending(path: files[0]), encoding: .utf8)
        #expect(!text.contains("secret"))
        let segments = try RecordedLog.read(folder.path)
        #expect(segments.count == 1 && segments[0].header.isContinued == false && !segments[0].isCut)
        // No segment has the entries from before the segment began.
        #expect(
            segments[0].entries == [
                RecordedEntry(
                    at: VirtualMoments().now(), .event(.submitted(try Self.request(1)))),
                RecordedEntry(at: moments.now(), .willSleep),
            ])
    }

    @Test func `a full segment asks for a recap, and the oldest ones go`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let limit = 1 << 20
        for round in 0..<40 {
            let recorder = try EventRecorder(
                directory: folder.path, limit: ByteCount(bytes: Int64(limit)),
                onProblem: { Issue.record("\($0)") })
            recorder.begin(at: moments.now(), isContinued: round > 0)
            let later = moments.now().advanced(by: .seconds(60))
            #expect(!recorder.wantsSegment(at: later))
            for id in 1...150 { recorder.record(.submitted(try Self.request(Int64(id))), at: moments.now()) }
            let running = Task { await recorder.run() }
            while !recorder.wantsSegment(at: later) { await Task.yield() }
            #expect(!recorder.wantsSegment(at: later.advanced(by: .milliseconds(-1))))
            recorder.finish()
            await running.value
            moments.advance(by: .seconds(60))
        }
        let files = try RecordedLog.files(in: folder.path)
        let sizes = try files.map {
            try #require(try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int)
        }
        #expect(files.count > 5 && files.count < 40)
        #expect(sizes.reduce(0, +) <= limit + limit / 8)
        #expect(try RecordedLog.read(folder.path).last?.entries.count == 150)
    }

    @Test func `a line that is cut is left out, a damaged one is named`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
        recorder.begin(at: moments.now(), isContinued: false)
        for _ in 0..<3 { recorder.record(.timePassed, at: moments.now()) }
        recorder.finish()
        await recorder.run()
        let file = try #require(try RecordedLog.files(in: folder.path).first)
        let whole = try String(contentsOfFile: file, encoding: .utf8)
        try String(whole.dropLast(5)).write(toFile: file, atomically: true, encoding: .utf8)
        let cut = try RecordedSegment(reading: file)
        #expect(cut.isCut && cut.entries.count == 2)
        var lines = whole.split(separator: "\n").map(String.init)
        lines[2] = #"{"at":[1,2],"event":{"timePassed":{}}}"#
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect {
            try RecordedSegment(reading: file)
        } throws: {
            ($0 as? RecordingError)?.description.contains(
                ":3: it is not a line of a log: 'at': it has 2 clocks")
                == true
        }
        lines[0] = #"{"format":99,"isContinued":false,"product":"9.9"}"#
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect {
            try RecordedSegment(reading: file)
        } throws: { ($0 as? RecordingError)?.finding.contains("its format is 99 (9.9)") == true }
        #expect {
            try RecordedLog.read(folder.appending(path: "nothing").path)
        } throws: { ($0 as? RecordingError)?.remedy.contains("bgtask record") == true }
    }

    @Test func `the conditions of a log become a history with the gaps between hosts`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let start = moments.now().wall
        for _ in 0..<2 {
            let recorder = try EventRecorder(
                directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
            recorder.begin(at: moments.now(), isContinued: false)
            recorder.record(.conditionsChanged(.simulatedStart), at: moments.now())
            moments.advance(by: .seconds(100))
            recorder.record(.timePassed, at: moments.now())
            recorder.finish()
            await recorder.run()
            moments.advance(by: .seconds(1000))
        }
        let history = ConditionHistory(
            recordedIn: try RecordedLog.files(in: folder.path), since: start)
        #expect(
            history.entries.map(\.at) == [
                start, start + .seconds(100), start + .seconds(1100), start + .seconds(1200),
            ])
        #expect(
            history.entries.map(\.conditions) == [.simulatedStart, nil, .simulatedStart, nil])
    }
}
