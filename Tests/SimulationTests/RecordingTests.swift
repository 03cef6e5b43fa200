import Foundation
import HostCore
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Recording
@testable import Scheduling
@testable import Simulation

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
        // The event that was recorded before the segment began is not in it.
        #expect(
            segments[0].entries == [
                RecordedEntry(
                    at: VirtualMoments().now(), .event(.submitted(try Self.request(1)))),
                RecordedEntry(at: moments.now(), .willSleep),
            ])
    }

    /// Writes a log in which every segment begins with a recap of 150 requests.
    private static func write(segments: Int, events: Int, to folder: URL) async throws {
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(1), onProblem: { Issue.record("\($0)") })
        let running = Task { await recorder.run() }
        for segment in 0..<segments {
            recorder.begin(at: moments.now(), isContinued: segment > 0)
            for id in 1...150 { recorder.record(.submitted(try Self.request(Int64(id))), at: moments.now()) }
            recorder.record(.started, at: moments.now())
            for _ in 0..<events {
                moments.advance(by: .milliseconds(100))
                recorder.record(.timePassed, at: moments.now())
            }
            moments.advance(by: .seconds(60))
        }
        recorder.finish()
        await running.value
    }

    @Test func `a segment continues in further files, and the oldest files go`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Self.write(segments: 6, events: 3000, to: folder)
        let files = try RecordedLog.files(in: folder.path)
        let sizes = try files.map {
            try #require(try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int)
        }
        #expect(sizes.reduce(0, +) <= (1 << 20) + (1 << 17) && sizes.allSatisfy { $0 < 1 << 17 })
        // No event is missing where one file continues another, and each segment begins with its recap.
        let segments = try RecordedLog.read(folder.path)
        #expect(segments.count >= 2 && segments.count < 6)
        #expect(segments.allSatisfy { $0.problems.isEmpty && $0.entries.count == 3151 })
        var skipped: [RecordingError] = []
        let rows = try RecordedLog.readFiles(folder.path, skipped: &skipped)
        #expect(rows.count == files.count && rows.count > 2 * segments.count)
        #expect(RecordedLog.problems(of: rows).isEmpty && skipped.isEmpty)
        // A new recap comes only after a quarter of the log's limit, so recaps are a small part of the log.
        #expect(rows.count { $0.header.hasRecap } == segments.count)
    }

    @Test func `a recap is asked for after a quarter of the log, at most once a minute`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(1), onProblem: { Issue.record("\($0)") })
        let running = Task { await recorder.run() }
        recorder.begin(at: moments.now(), isContinued: false)
        let later = moments.now().advanced(by: .seconds(60))
        #expect(!recorder.wantsSegment(at: later))
        for id in 1...1000 { recorder.record(.submitted(try Self.request(Int64(id))), at: moments.now()) }
        while !recorder.wantsSegment(at: later) { await Task.yield() }
        #expect(!recorder.wantsSegment(at: later.advanced(by: .milliseconds(-1))))
        recorder.finish()
        await running.value
    }

    @Test func `damaged lines and missing events are left out, and named with file and line`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
        recorder.begin(at: moments.now(), isContinued: false)
        for id in 1...5 { recorder.record(.withdrawn(RequestID(rawValue: Int64(id))), at: moments.now()) }
        recorder.finish()
        await recorder.run()
        let file = try #require(try RecordedLog.files(in: folder.path).first)
        let whole = try String(contentsOfFile: file, encoding: .utf8)
        try String(whole.dropLast(5)).write(toFile: file, atomically: true, encoding: .utf8)
        let cut = try RecordedSegment(reading: file)
        #expect(cut.isCut && cut.entries.count == 4 && cut.problems.isEmpty)

        let lines = whole.split(separator: "\n").map(String.init)
        func read(_ lines: [String]) throws -> RecordedSegment {
            try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            return try RecordedSegment(reading: file)
        }
        // One digit of the third line is changed: it is still JSON, but not what was written.
        var damaged = lines
        damaged[2] = lines[2].replacingOccurrences(of: #""R2""#, with: #""R3""#)
        #expect(damaged[2] != lines[2])
        var segment = try read(damaged)
        #expect(segment.entries.count == 4)
        #expect(
            segment.problems.map(\.subject) == ["\(file):3", "\(file):4"]
                && segment.problems[0].finding.contains("checksum")
                && segment.problems[1].finding == "1 event before this line is missing")
        segment = try read(Array(lines[...1] + lines[4...]))
        #expect(segment.problems.map(\.finding) == ["2 events before this line are missing"])
        #expect(segment.problems.first?.subject == "\(file):3" && segment.entries.count == 3)

        // A line that occurs twice says nothing new, so nothing is missing, wherever the copy is.
        for copy in [3, 5] {
            var doubled = lines
            doubled.insert(lines[2], at: copy)
            segment = try read(doubled)
            #expect(segment.entries == (try read(lines)).entries && segment.firstGap == nil)
            #expect(segment.problems.map(\.finding) == ["the event of this line occurs twice"])
            #expect(segment.problems.first?.subject == "\(file):\(copy + 1)")
        }

        // A file of which nothing can be read is left out of a log.
        try "garbage\n".write(
            toFile: folder.path + "/events-00000000000001.jsonl", atomically: true, encoding: .utf8)
        var skipped: [RecordingError] = []
        #expect(try RecordedLog.read(folder.path, skipped: &skipped).count == 1)
        #expect(skipped.map(\.subject) == [folder.path + "/events-00000000000001.jsonl:1"])
    }

    private static func lineCount(in folder: URL) throws -> Int {
        try RecordedLog.files(in: folder.path).map {
            try Data(contentsOf: URL(fileURLWithPath: $0)).count { $0 == 10 }
        }.reduce(0, +)
    }

    @Test func `more pending requests than the queue has room for are recorded at the start`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), capacity: 10, onProblem: { Issue.record("\($0)") })
        recorder.begin(at: moments.now(), isContinued: false)
        let request = try Self.request(1)
        recorder.record(pending: Array(repeating: request, count: 100), at: moments.now())
        recorder.record(.started, at: moments.now())
        // A recap can have as many events, and is recorded in one piece, too.
        recorder.record(Array(repeating: .timePassed, count: 100), at: moments.now())
        recorder.finish()
        await recorder.run()
        // There is one line for each event, and each file also has a header line.
        let files = try RecordedLog.files(in: folder.path).count
        #expect(try Self.lineCount(in: folder) == 201 + files)
    }

    @Test func `pending requests that do not fit are not recorded, and the log says why`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let problems = Mutex<[String]>([])
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(1),
            onProblem: { problem in problems.withLock { $0.append(problem) } })
        recorder.begin(at: moments.now(), isContinued: false)
        recorder.record(pending: Array(repeating: try Self.request(1), count: 2000), at: moments.now())
        recorder.record(.started, at: moments.now())
        #expect(
            problems.withLock { $0 } == [
                "recording pauses until fewer requests are pending: 2000 requests are pending, which is too much "
                    + "for a recording of 1 MiB. To record them, set recording.size to a greater value"
            ])
        moments.advance(by: .seconds(60))
        // A new segment is not wanted while the requests would not fit, but as soon as they do.
        #expect(!recorder.wantsSegment(at: moments.now(), pending: 2000))
        #expect(recorder.wantsSegment(at: moments.now(), pending: 1000))
        recorder.begin(at: moments.now(), isContinued: true)
        recorder.record([.started], at: moments.now())
        recorder.finish()
        await recorder.run()
        // The three lines are the headers of both segments, and the event.
        #expect(try Self.lineCount(in: folder) == 3)
    }

    @Test func `28 days of a busy laptop fit into 64 MiB`() throws {
        var quiet = 0
        var fleet = Fleet(kinds: [.laptop], manifests: try PolicyPage.manifests(), seed: 1)
        fleet.days = 28
        let json = JSONEncoder()
        json.outputFormatting = .withoutEscapingSlashes
        _ = fleet.run(device: 0, detail: .launches, findDate: { _, _, after in after + .seconds(86_400) }) {
            // The number and the checksum take at most 36 bytes.
            quiet += ((try? json.encode($0).count) ?? 0) + 36
        }
        // Besides, two tasks report progress twice a second, for eight hours each day.
        struct Chatty: LaunchModel {
            func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
                LaunchPlan(
                    work: .seconds(8 * 3600), cpuShare: 0.5, resumes: false,
                    progressPeriod: .milliseconds(500))
            }
        }
        let tasks = try ["a", "b"].map {
            TaskDeclaration(pattern: try IdentifierPattern("com.example.a.\($0)"), kind: .continuedProcessing)
        }
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: Chatty(),
            detail: .launches)
        var busy = 0
        host.record = { busy += ((try? json.encode($0).count) ?? 0) + 36 }
        host.begin(
            VirtualBeginning(manifests: [
                Manifest(
                    bundle: try BundleIdentifier("com.example.a"), library: "a.so", modes: [], tasks: tasks,
                    sandbox: SandboxDeclaration())
            ]))
        for task in tasks {
            let submission = TaskSubmission(identifier: task.pattern.base, origin: .client)
            host.add(.call(.submit(submission, from: nil)), at: .zero)
        }
        host.run(until: .seconds(86_400))
        #expect(busy > 500_000 && quiet > 1_000_000)
        #expect(quiet + 28 * busy < 64 << 20, "\(quiet) bytes, and \(busy) a day")
    }

    @Test func `events that could not be written are counted`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), capacity: 100, onProblem: { _ in })
        recorder.begin(at: moments.now(), isContinued: false)
        // Nothing is written yet, so the queue becomes full.
        for _ in 0..<150 { recorder.record(.timePassed, at: moments.now()) }
        let running = Task { await recorder.run() }
        func lineCount() throws -> Int {
            try RecordedLog.files(in: folder.path).map {
                try Data(contentsOf: URL(fileURLWithPath: $0)).count { $0 == 10 }
            }.reduce(0, +)
        }
        // The queue holds 100 items; the first of them begins the segment.
        while try lineCount() < 100 { await Task.yield() }
        moments.advance(by: .seconds(60))
        #expect(recorder.wantsSegment(at: moments.now()))
        recorder.begin(at: moments.now(), isContinued: true)
        recorder.record(.timePassed, at: moments.now())
        recorder.finish()
        await running.value
        var skipped: [RecordingError] = []
        let files = try RecordedLog.readFiles(folder.path, skipped: &skipped)
        let missing = RecordedLog.problems(of: files).map(\.finding)
        let written = files.map(\.entries.count).reduce(0, +)
        #expect(missing == ["\(151 - written) events before this line are missing"])
    }

    @Test func `a log of format 1 is read, and one of a future format is refused`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.path + "/events-01795353110454.jsonl"
        let line = #"{"at":[1,2,3],"event":{"timePassed":{}}}"#
        let old = #"{"format":1,"isContinued":false,"product":"0.1.0"}"#
        try "\(old)\n\(line)\n\(line)\n".write(toFile: file, atomically: true, encoding: .utf8)
        let segment = try RecordedSegment(reading: file)
        #expect(segment.entries.count == 2 && segment.problems.isEmpty && segment.header.hasRecap)
        #expect(try RecordedLog.read(folder.path).count == 1)
        let second = #"{"first":1,"format":2,"hasRecap":true,"isContinued":false,"product":"0.1.0"}"#
        try Data(LineSeal.close(Array(second.utf8), number: nil)).write(to: URL(filePath: file))
        #expect(try RecordedSegment(reading: file).header.format == 2)
        let future = #"{"format":99,"isContinued":false,"product":"9.9"}"#
        try "\(future)\n\(line)\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect {
            try RecordedSegment(reading: file)
        } throws: { ($0 as? RecordingError)?.finding.contains("its format is 99 (9.9)") == true }
        #expect {
            try RecordedLog.read(folder.appending(path: "nothing").path)
        } throws: { ($0 as? RecordingError)?.remedy.contains("bgtask record") == true }
    }

    @Test func `a thousand tasks of one sort take little room, and the texts of progress none`() throws {
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "libA.so", modes: [.processing],
            tasks: try (0..<1000).map { number in
                var task = TaskDeclaration(
                    pattern: try IdentifierPattern("com.example.a.t\(number)"), kind: .processing)
                task.requiresExternalPower = number % 500 == 7
                return task
            }, sandbox: SandboxDeclaration())
        let now = VirtualMoments().now()
        let entry = RecordedEntry(at: now, .event(.handlersChanged([manifest])))
        let bytes = try JSONEncoder().encode(entry)
        #expect(bytes.count < 40_000)
        #expect(try JSONDecoder().decode(RecordedEntry.self, from: bytes) == entry)
        let report = SchedulerEvent.progressed(
            LaunchID(rawValue: 1), TaskProgress(completed: 1, total: 2, message: "private.jpg"),
            changedAt: .seconds(3))
        let stripped = SchedulerEvent.progressed(
            LaunchID(rawValue: 1), TaskProgress(completed: 1, total: 2), changedAt: .seconds(3))
        #expect(report.withoutPayloads() == stripped)
    }

    @Test func `checksums are those of gzip`() {
        #expect(CRC32.checksum(of: Array("123456789".utf8)[...]) == 0xCBF4_3926)
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

    @Test func `a full disk does not count as too many pending requests`() throws {
        #expect(!EventRecorder.isTooMuch(SystemCallError(call: "write", subject: "/x", code: 28)))
        #expect(EventRecorder.isTooMuch(RecordingError(subject: "/x", finding: "too long", remedy: "None")))
    }

    @Test func `bulk orders keep what the manifests of their time read`() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let moments = VirtualMoments()
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
        var task = TaskDeclaration(pattern: try IdentifierPattern("com.example.a.p1"), kind: .processing)
        task.constraints = TaskConstraints(
            when: try WhenExpression("payload.urgent", payload: ["urgent": .boolean]))
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "lib.so", modes: [.processing],
            tasks: [task], sandbox: SandboxDeclaration())
        let requests = try (1...2).map { try Self.request($0, payload: #"{"urgent":true,"secret":1}"#) }
        recorder.begin(at: moments.now(), isContinued: false)
        recorder.record(.handlersChanged([manifest]), at: moments.now())
        recorder.record(pending: [requests[0]], at: moments.now())
        recorder.record([.submitted(requests[1])], at: moments.now())
        // The lines are written after the manifest was removed.
        recorder.record(.handlersChanged([]), at: moments.now())
        recorder.finish()
        await recorder.run()
        let payloads = try RecordedLog.read(folder.path).flatMap(\.entries).compactMap { entry in
            if case .submitted(let request) = entry.event { request.submission.payload } else { nil }
        }
        #expect(
            payloads.count == 2 && payloads.allSatisfy { $0.contains("urgent") && !$0.contains("secret") })
    }

    // MARK: Hostile logs

    /// A line of a log with the right number and checksum.
    private static func sealed(_ text: String, _ number: Int64) -> [UInt8] {
        LineSeal.close([UInt8](text.utf8), number: number)
    }

    /// A log of one file: a scheduler that starts, gets a request, launches it and hears of progress, with a
    /// part of its text replaced.
    private static func hostile(
        _ old: String, _ new: String, recap: [SchedulerEvent] = [], to folder: URL
    ) throws -> String {
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "a.so", modes: [.processing],
            tasks: [TaskDeclaration(pattern: try IdentifierPattern("com.example.a.p1"), kind: .processing)],
            sandbox: SandboxDeclaration())
        let moments = VirtualMoments()
        let id = RequestID(rawValue: 1)
        let launch = LaunchID(rawValue: 1)
        let before: [SchedulerEvent] = [
            .settingsChanged(SchedulerSettings()), .localTimeChanged(offset: .seconds(3600)),
            .handlersChanged([manifest]), .conditionsChanged(.simulatedStart),
        ]
        let events: [SchedulerEvent] =
            before + recap + [
                .started, .submitted(try request(1)), .launchStarted(launch, id), .launchReady(launch),
                .progressed(launch, TaskProgress(completed: 7, total: 9), changedAt: moments.now().monotonic),
                .timePassed,
            ]
        let header = String(
            decoding: try JSONEncoder().encode(RecordedSegment.Header(isContinued: false)), as: UTF8.self)
        var bytes = LineSeal.close([UInt8](header.replacingOccurrences(of: old, with: new).utf8), number: nil)
        for (index, event) in events.enumerated() {
            moments.advance(by: .seconds(1))
            let line = try JSONEncoder().encode(RecordedEntry(at: moments.now(), .event(event)))
            let text = String(decoding: line, as: UTF8.self).replacingOccurrences(of: old, with: new)
            bytes += sealed(text, Int64(index + 1))
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "events-00000000000001.jsonl").path
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    @Test(
        arguments: [
            // A lease, local time and counts that no host has.
            (
                "\"duration\":[32,9704189641294348288]", "\"duration\":[9223372036854775807,0]",
                "no host records"
            ),
            (
                "\"offset\":[195,2884905626637434880]", "\"offset\":[-9223372036854775808,1]",
                "no host records"
            ),
            ("\"attempt\":1", "\"attempt\":9223372036854775807", "no host records"),
            ("\"budgetBurst\":0.25", "\"budgetBurst\":1e300", "no host records"),
        ])
    func `numbers that no host records are reported, and the line is left out`(
        old: String, new: String, problem: String
    ) throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile(old, new, to: folder)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.contains(new))
        let segment = try RecordedSegment(reading: path)
        #expect(segment.problems.contains { $0.finding.contains(problem) }, "\(segment.problems)")
        // A trap would end this program.
        _ = ExactReplay([segment])
        _ = RecordedWorld([segment]).run()
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `a header with a number that no host records is refused`(number: String) throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile("\"first\":1", "\"first\":\(number)", to: folder)
        let error = #expect(throws: RecordingError.self) { try RecordedSegment(reading: path) }
        #expect(error?.finding == "the line has a number that no host records: \(number)")
        #expect(error?.subject == path + ":1")
    }

    @Test func `a line with the greatest number of an event is left out`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile("none", "none", to: folder)
        let entry = try #require(RecordedSegment(reading: path).entries.last)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        for _ in 0..<2 {
            bytes += Self.sealed(String(decoding: try JSONEncoder().encode(entry), as: UTF8.self), .max)
        }
        try Data(bytes).write(to: URL(filePath: path))
        let segment = try RecordedSegment(reading: path)
        #expect(segment.problems.count == 2)
        #expect(segment.problems.allSatisfy { $0.finding.contains("no host records: 9223372036854775807") })
    }

    /// A replay would count each period of 10 s until then.
    @Test func `progress that changed in the far future is left out`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let old = try #require(try Self.progressText("\"changedAt\":\\[[^]]*\\]", folder))
        let path = try Self.hostile(old, "\"changedAt\":[68719476735,0]", to: folder)
        let segment = try RecordedSegment(reading: path)
        #expect(segment.problems.map(\.finding) == ["the progress changed after the event that reports it"])
        _ = ExactReplay([segment])
        _ = RecordedWorld([segment]).run()
    }

    /// The text in the log that matches an expression.
    private static func progressText(_ pattern: String, _ folder: URL) throws -> String? {
        let text = try String(contentsOfFile: try hostile("none", "none", to: folder), encoding: .utf8)
        return text.range(of: pattern, options: .regularExpression).map { String(text[$0]) }
    }

    /// Any 64 bits are right for the units of a handler.
    @Test func `progress by the greatest numbers, and much later, does not end a replay`() {
        var watch = ProgressWatch()
        let settings = SchedulerSettings()
        watch.begin(at: .zero)
        for second in 0..<200 {
            let completed: Int64 = second.isMultiple(of: 2) ? .max : .min
            let report = TaskProgress(completed: completed, total: .max)
            let isNew = watch.report(report, at: .seconds(second), settings)
            #expect(isNew)
            _ = watch.question(at: .seconds(second), settings)
        }
        let far = Duration.seconds(Int64(1) << 40)
        let is1 = watch.report(TaskProgress(completed: 1, total: 2), at: far, settings)
        #expect(is1)
        let question = watch.question(at: far, settings)
        #expect(question == nil)
        var period = settings
        period.ratePeriod = .nanoseconds(1)
        let is2 = watch.report(TaskProgress(completed: 2, total: 2), at: far * 2, period)
        #expect(is2)
        period.ratePeriod = .zero
        let is3 = watch.report(TaskProgress(completed: 3, total: 3), at: far * 4, period)
        #expect(is3)
    }

    @Test func `the counts of a recording end neither in a loop nor in an overflow`() throws {
        let settings = SchedulerSettings()
        let request = RequestID(rawValue: 1)
        #expect(settings.backOff(afterAttempts: .max, of: request) <= settings.backOffLimit)
        #expect(settings.backOff(afterLosses: .max, of: request) <= settings.backOffLimit)
        var state = BundleState()
        state.conduct.days = (0..<2000).map { _ in ConductLedger.Day(day: 20_000, points: 1 << 53) }
        var scheduler = Scheduler()
        let bundle = try BundleIdentifier("com.example.a")
        _ = scheduler.handle(.bundleRestored(bundle, state), at: VirtualMoments().now())
        let score = scheduler.bundleState(bundle).conduct.score(on: 20_001, settings)
        #expect(score == 1)
    }

    @Test(arguments: [-1, 400 * 86_400])
    func `clocks that run backwards or jump by more than a year are reported`(jump: Int64) throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile("none", "none", to: folder)
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
        var entry = try #require(RecordedSegment(reading: path).entries.last)
        entry.at = entry.at.advanced(by: .seconds(jump) - .seconds(1))
        var bytes = lines.dropLast().reduce(into: [UInt8]()) { $0 += Array($1) + [UInt8(ascii: "\n")] }
        bytes += LineSeal.close([UInt8](try JSONEncoder().encode(entry)), number: Int64(lines.count - 1))
        try Data(bytes).write(to: URL(filePath: path))
        let segment = try RecordedSegment(reading: path)
        #expect(segment.entries.count == lines.count - 2)
        #expect(segment.problems.first?.finding.contains("can't be those of an event") == true)
    }

    @Test func `a line with clocks in the far future costs no line after it`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile("none", "none", to: folder)
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
        var entries = try RecordedSegment(reading: path).entries
        for index in [2, 6] { entries[index].at = entries[index].at.advanced(by: .seconds(86_400)) }
        var bytes = Array(lines[0]) + [UInt8(ascii: "\n")]
        for (index, entry) in entries.enumerated() {
            bytes += LineSeal.close([UInt8](try JSONEncoder().encode(entry)), number: Int64(index + 1))
        }
        try Data(bytes).write(to: URL(filePath: path))
        let segment = try RecordedSegment(reading: path)
        #expect(segment.problems.map(\.subject) == [path + ":4", path + ":8"])
        #expect(segment.entries.count == entries.count - 2 && segment.firstGap == 2)
    }

    @Test func `a segment whose start is damaged is replayed all the same`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try Self.hostile("\"started\"", "\"stopped\"", to: folder)
        let segment = try RecordedSegment(reading: path)
        #expect(segment.problems.count == 1)
        #expect(ExactReplay([segment]).tally.launches.count == 1)
        #expect(RecordedWorld([segment]).run()?.launches.count == 1)
    }

    @Test func `a date that was cancelled before the start stays before it, if the start is damaged`() throws
    {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let cancelled = try Self.request(2)
        let path = try Self.hostile(
            "\"started\"", "\"stopped\"", recap: [.submitted(cancelled), .withdrawn(cancelled.id)],
            to: folder)
        let events = try RecordedSegment(reading: path).entries.map(\.event)
        let started = try #require(events.firstIndex(of: .started))
        #expect(try #require(events.firstIndex(of: .withdrawn(cancelled.id))) < started)
    }

    @Test func `a wall clock that was set back does not end a replay`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let segment = try RecordedSegment(reading: try Self.hostile("none", "none", to: folder))
        #expect(segment.problems.isEmpty)
        var entries = segment.entries
        entries[entries.count - 1].at.wall = entries[0].at.wall + .seconds(-86_400)
        let replay = ExactReplay([RecordedSegment(path: "memory", entries: entries)])
        let period = try #require(replay.period)
        #expect(period.lowerBound == entries[entries.count - 1].at.wall)
    }
}
