import Foundation
import TaskHostTestSupport
import Testing

/// Notifications of an app that uses `UserNotifications`, as its user and its later launches find them.
@Suite(.system) struct AppNotificationTests {
    private func start() throws -> AppHost {
        try AppHost(
            "NotificationsApp",
            tasks: [
                "news": "processing", "remind": "processing", "look": "processing", "wrong": "processing",
            ])
    }

    private func notifications(_ app: AppHost) throws -> [String] {
        let answer = app.host.run("logs", "--subsystem", "UserNotifications", "--json")
        return try answer.output.split(separator: "\n").map { line in
            let row = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(row["level"] as? String == "notice", "\(row)")
            return "\(row["category"] as? String ?? "none") \(row["message"] as? String ?? "none")"
        }
    }

    @Test func `a notification is a line of the log, and later launches find it until they remove it`()
        throws
    {
        let app = try start()
        let news = try app.launch("news")
        #expect(news.outcome == "succeeded" && news.says("granted: true, error: none"), "\(news)")
        #expect(
            try notifications(app) == [
                "articles Feed: Today - 1 new articles, the best of them now",
                "articles Feed: Today - 3 new articles, the best of them now",
            ])
        let look = try app.launch("look")
        #expect(look.says("delivered: articles, Feed, 3, 3") && look.says("left: 0"), "\(look)")
        #expect(look.lines.filter { $0.contains("delivered: ") }.count == 1, "the second replaced the first")
        let again = try app.launch("look")
        #expect(!again.says("delivered: "), "\(again)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a trigger waits for its date, and a later launch delivers what is due`() throws {
        let app = try start()
        let remind = try app.launch("remind")
        #expect(remind.outcome == "succeeded" && !remind.says("not added"), "\(remind)")
        // The process of 'remind' may have lived long enough to deliver 'soon' itself; it comes once.
        let look = try app.launch("look")
        #expect(look.says("pending: morning (8), tomorrow (0)"), "\(look)")
        #expect(look.says("delivered: soon, Reminder"), "\(look)")
        #expect(try notifications(app) == ["soon Reminder: soon"])
        let advice = app.host.run("plugins").output
        #expect(advice.contains("starts no process") && advice.contains("earliestBeginDate"), "\(advice)")
        #expect(app.host.stop() == 0)
    }

    @Test func `what can't be delivered is refused with Apple's codes`() throws {
        let app = try start()
        let wrong = try app.launch("wrong")
        #expect(wrong.says("refused: no date") && wrong.says("refused: true"), "\(wrong)")
        #expect(wrong.says("no attachment: file:///nowhere/picture.png: it names no file."), "\(wrong)")
        #expect(try notifications(app) == [])
        #expect(app.host.stop() == 0)
    }
}
