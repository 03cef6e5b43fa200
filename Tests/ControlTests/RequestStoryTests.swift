import Calendars
import ControlWire
import TaskModel
import Testing

@testable import BgtaskCommands

/// The lines that `--wait` writes if the output is not a terminal.
@Suite struct RequestStoryTests {
    private static let launch = LaunchID(rawValue: 42)

    private func request(title: String = "", subtitle: String = "") throws -> TaskRequest {
        var submission = TaskSubmission(identifier: try TaskIdentifier("org.example.a"), origin: .client)
        (submission.title, submission.subtitle) = (title, subtitle)
        return ScriptedHost.request(submission)
    }

    private func progress(_ completed: Int64, of total: Int64, _ message: String? = nil) -> HostEventMessage {
        HostEventMessage(
            .progress(
                Self.launch, RequestID(rawValue: 17),
                TaskProgress(completed: completed, total: total, message: message)))
    }

    private func at(_ milliseconds: Int64) -> WallTime {
        ScriptedHost.start + .milliseconds(milliseconds)
    }

    @Test func `a thousand reports in ten seconds are one line a tenth, and the last one is among them`()
        throws
    {
        let request = try request()
        var story = RequestStory(request: request.id)
        var lines = story.take(HostEventMessage(.launchStarted(ScriptedHost.record(request))), now: at(0))
        for step in Int64(1)...999 {
            lines += story.take(progress(step, of: 1000, "file \(step)"), now: at(step * 10))
        }
        var ended = ScriptedHost.ended(request, .succeeded, nil)
        ended.progress = TaskProgress(completed: 999, total: 1000, message: "file 999")
        lines += story.take(HostEventMessage(.launchEnded(ended, putBack: nil)), now: at(9999))
        #expect(
            lines == [
                "L42 has started (attempt 1, cgroup)", "0 % 1/1000 file 1", "10 % 100/1000 file 100",
                "20 % 200/1000 file 200", "30 % 300/1000 file 300", "40 % 400/1000 file 400",
                "50 % 500/1000 file 500", "60 % 600/1000 file 600", "70 % 700/1000 file 700",
                "80 % 800/1000 file 800", "90 % 900/1000 file 900", "99 % 999/1000 file 999",
                "L42 succeeded after 1.2 s, 812 ms CPU",
            ])
    }

    /// A line that a handler printed or logged.
    private func output(
        _ text: String, _ source: LogLine.Source, _ level: LogLine.Level = .info, launch: LaunchID = launch
    ) -> HostEventMessage {
        .output(
            LogLineMessage(
                LogLine(
                    at: at(0), level: level, source: source, launch: launch,
                    identifier: try? TaskIdentifier("org.example.a"), message: text)))
    }

    @Test func `what the launch prints and logs is indented, without its debug lines and other launches`()
        throws
    {
        let request = try request()
        var story = RequestStory(request: request.id)
        _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
        let events = [
            output("copying", .standardOutput), output("no space", .standardError),
            output("opened", .handler), output("slow", .handler, .warning), output("x = 3", .handler, .debug),
            output("another launch", .standardOutput, launch: LaunchID(rawValue: 43)),
        ]
        let lines = events.flatMap { story.take($0, now: at(1)) }
        #expect(lines == ["  copying", "  no space", "  opened", "  warning: slow"])
    }

    @Test(arguments: [
        (Outcome.failed, Reason.handlerFailed, "To see its log: bgtask show L42"),
        (.crashed, .signal, "To see how it ended: bgtask report L42"),
    ])
    func `an end without success names the command that shows more`(
        outcome: Outcome, reason: Reason, advice: String
    ) throws {
        let request = try request()
        var story = RequestStory(request: request.id)
        _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
        let ended = ScriptedHost.ended(request, outcome, reason)
        #expect(story.finish(LaunchMessage(ended), putBack: nil).last == advice)
    }

    @Test func `bgtask launch --wait ends with the attempt, and says when the next one starts`() throws {
        let request = try request()
        var story = RequestStory(request: request.id, isOneAttempt: true)
        story.retryAttempts = 3
        _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
        let ended = ScriptedHost.ended(request, .failed, .handlerFailed)
        var next = request
        let at = try #require(ended.endedAt)
        next.putBack(PutBack(notBefore: at + .seconds(10), isRetry: true), at: at)
        let lines = story.take(HostEventMessage(.launchEnded(ended, putBack: next)), now: at)
        #expect(
            lines.suffix(3) == [
                "Attempt 1 failed ('retry' gives up after 3 failures); the next one starts in 10 s at the earliest, at "
                    + LocalTimes(zone: .utc).date(Timestamp(at + .seconds(10))),
                "To follow it: bgtask logs -f --identifier org.example.a", "To give it up: bgtask cancel R17",
            ])
        guard case .putBack = story.end else {
            Issue.record("the story has no end")
            return
        }
        var whole = RequestStory(request: request.id)
        _ = whole.take(HostEventMessage(.launchEnded(ended, putBack: next)), now: at)
        #expect(whole.end == nil, "submit --wait follows all attempts")
    }

    @Test(arguments: [
        ("ExternalPower", true), ("Permission", false), ("SystemSleep", false),
        ("OneLaunchPerIdentifier", false), ("Conflicts", false),
    ])
    func `bgtask launch is the advice only if no policy blocks that also applies to it`(
        policy: String, isAdvised: Bool
    ) throws {
        let request = try request()
        var story = RequestStory(request: request.id)
        let network = Verdict(
            policy: "Network", decision: .mustNotProceed, score: 0, weight: 1, rationale: [])
        let other = Verdict(policy: policy, decision: .mustNotProceed, score: 0, weight: 1, rationale: [])
        let lines = story.block(
            [network, other].map(VerdictMessage.init), identifier: request.identifier, now: at(0))
        #expect(lines.prefix(2) == ["R17 waits: Network", "R17 waits: \(policy)"])
        #expect(lines.contains { $0.contains("bgtask launch org.example.a") } == isAdvised)
    }

    @Test func `a start that the command has reported itself is not repeated`() throws {
        let request = try request()
        var story = RequestStory(request: request.id, isOneAttempt: true)
        let record = ScriptedHost.record(request)
        _ = story.begin(LaunchMessage(record))
        #expect(story.take(HostEventMessage(.launchStarted(record)), now: at(0)) == [])
    }

    @Test func `slow progress, and one without a total, is a line each ten seconds`() throws {
        let request = try request()
        for total in [Int64(0), 1_000_000] {
            var story = RequestStory(request: request.id)
            _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
            var count = 0
            for step in Int64(0)...300 {
                count += story.take(progress(step, of: total), now: at(step * 100)).count
            }
            #expect(count == 4)
        }
    }

    @Test func `progress that stands still is shown when ten seconds have passed, once`() throws {
        let request = try request()
        var story = RequestStory(request: request.id)
        _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
        _ = story.take(progress(1, of: 100), now: at(0))
        #expect(story.take(progress(2, of: 100), now: at(1000)).isEmpty)
        #expect(story.overdue(now: at(9999)).isEmpty)
        #expect(story.overdue(now: at(10_000)) == ["2 % 2/100"])
        #expect(story.overdue(now: at(30_000)).isEmpty)
    }

    @Test func `progress that falls because the total grows does not flood`() throws {
        let request = try request()
        var story = RequestStory(request: request.id)
        _ = story.begin(LaunchMessage(ScriptedHost.record(request)))
        var count = 0
        for step in Int64(0)..<100 {
            count += story.take(progress(50, of: step % 2 == 0 ? 100 : 1000), now: at(step)).count
        }
        #expect(count == 1)
    }

    @Test func `the submitted title comes with the start, and the last one with the end`() throws {
        let request = try request(title: "Export", subtitle: "Album")
        var story = RequestStory(request: request.id)
        var lines = story.take(HostEventMessage(.launchStarted(ScriptedHost.record(request))), now: at(0))
        for step in 1...12 {
            let event = HostEvent.titleChanged(
                Self.launch, request.id, title: "Export", subtitle: "\(step) of 12")
            lines += story.take(HostEventMessage(event), now: at(Int64(step) * 100))
        }
        var ended = ScriptedHost.ended(request, .succeeded, nil)
        (ended.progress, ended.title, ended.subtitle) = (nil, "Export", "12 of 12")
        lines += story.take(HostEventMessage(.launchEnded(ended, putBack: nil)), now: at(2000))
        #expect(
            lines == [
                "L42 has started (attempt 1, cgroup)", "Export: Album", "Export: 1 of 12",
                "Export: 12 of 12", "L42 succeeded after 1.2 s, 812 ms CPU",
            ])
    }

    @Test func `a terminal's bar shows titles and progress, so the story does not`() throws {
        let request = try request(title: "Export")
        var story = RequestStory(request: request.id, showsProgress: false)
        let begun = story.begin(LaunchMessage(ScriptedHost.record(request)))
        #expect(begun == ["L42 has started (attempt 1, cgroup)"])
        #expect(story.take(progress(9, of: 20), now: at(0)).isEmpty)
        #expect(story.overdue(now: at(60_000)).isEmpty)
        #expect(story.progress?.completed == 9 && story.title == "Export")
        let bar = ProgressBar.line(story, now: at(1000), tick: 0, width: 80)
        #expect(bar == "L42 Export [##########--------------] 45 % 9/20  1.0 s")
    }

    @Test func `a request that was replaced ends with the number of the newer one`() throws {
        let request = try request()
        var story = RequestStory(request: request.id)
        #expect(story.replace(by: RequestID(rawValue: 22)) == ["R17 was replaced by R22"])
        #expect(story.end == .replaced(by: RequestID(rawValue: 22)))
        var other = RequestStory(request: request.id)
        let event = HostEvent.requestCancelled(request.id, request.identifier, .replaced)
        #expect(other.take(HostEventMessage(event), now: at(0)) == ["R17 was replaced by a newer request"])
    }
}
