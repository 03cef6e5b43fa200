import Foundation
import TaskModel
import Testing

@testable import Scheduling

@Suite struct RecordedSettingsTests {
    @Test func `a recording that is older than a setting has its default`() throws {
        var settings = SchedulerSettings()
        settings.batteryStartPercent = 30
        let text = String(
            decoding: try JSONEncoder().encode(SchedulerEvent.settingsChanged(settings)), as: UTF8.self)
        let older = text.replacing(#/"pressureLimit":[^\]]*\],?/#, with: "")
        #expect(older != text)
        let read = try JSONDecoder().decode(SchedulerEvent.self, from: Data(older.utf8))
        #expect(read == .settingsChanged(settings))
    }

    @Test(arguments: ["submissionsPerMinute", "scoreMargin"])
    func `so has one that is older than a number`(setting: String) throws {
        let text = String(
            decoding: try JSONEncoder().encode(SchedulerEvent.settingsChanged(SchedulerSettings())),
            as: UTF8.self)
        let older = text.replacing(try Regex("\"\(setting)\":[0-9.]+,?"), with: "")
            .replacing(",}", with: "}")
        #expect(older != text)
        let read = try JSONDecoder().decode(SchedulerEvent.self, from: Data(older.utf8))
        #expect(read == .settingsChanged(SchedulerSettings()))
    }

    @Test func `a duration that is no setting is still required`() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SchedulerEvent.self, from: Data(#"{"localTimeChanged":{}}"#.utf8))
        }
    }

    @Test func `a request that was recorded before it could name its network is read`() throws {
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .client)
        submission.network = .unmetered
        let text = String(decoding: try JSONEncoder().encode(submission), as: UTF8.self)
        let older = text.replacing(#"network":"unmetered"#, with: #"other":""#)
        #expect(older != text)
        #expect(try JSONDecoder().decode(TaskSubmission.self, from: Data(older.utf8)).network == nil)
    }
}
