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

    /// A notification service that remembers what it shows.
    private static let desktop = """
        import dbus, dbus.service, sys
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib

        DBusGMainLoop(set_as_default=True)
        bus = dbus.bus.BusConnection(sys.argv[1])
        shown = []

        class Desktop(dbus.service.Object):
            @dbus.service.method("org.freedesktop.Notifications", in_signature="susssasa{sv}i", out_signature="u")
            def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
                shown.append("|".join([app, str(int(replaces)), summary, body, str(int(timeout))]))
                return int(replaces) or len(shown) + 40

            @dbus.service.method("test.Desktop", in_signature="", out_signature="s")
            def Shown(self):
                return "\\n".join(shown)

        name = dbus.service.BusName("org.freedesktop.Notifications", bus)
        Desktop(bus, "/org/freedesktop/Notifications")
        GLib.MainLoop().run()
        """

    @Test(.enabled(if: PrivateBus.mockObstacle == nil, "\(PrivateBus.mockObstacle ?? "")"))
    func `a notification appears on the desktop of the session bus, and a later one replaces it`() throws {
        let bus = try PrivateBus()
        try bus.start()
        let file = bus.directory.appendingPathComponent("desktop.py")
        try Self.desktop.write(to: file, atomically: true, encoding: .utf8)
        let desktop = try CompanionProcess(["/usr/bin/python3", file.path, bus.address], output: bus.log)
        defer { desktop.end() }
        try waitUntil("the desktop is on the bus") { bus.owner(of: "org.freedesktop.Notifications") != nil }
        let app = try AppHost(
            "NotificationsApp", tasks: ["news": "processing"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        #expect(try app.launch("news").outcome == "succeeded")
        func shown() -> String {
            bus.call(
                "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "test.Desktop.Shown"
            ).output
        }
        try app.host.wait("both notifications are shown") {
            shown().contains(
                "org.example.notifications.news|41|Feed|Today - 3 new articles, the best of them now|-1")
        }
        #expect(
            shown().contains(
                "org.example.notifications.news|0|Feed|Today - 1 new articles, the best of them now|-1"))
        #expect(app.host.stop() == 0)
    }

    @Test(.enabled(if: PrivateBus.mockObstacle == nil, "\(PrivateBus.mockObstacle ?? "")"))
    func `a bus without a desktop is reported once, and nothing waits for it`() throws {
        let bus = try PrivateBus()
        try bus.start()
        let app = try AppHost(
            "NotificationsApp", tasks: ["news": "processing"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        #expect(try app.launch("news").outcome == "succeeded")
        let complaint = "no desktop shows the notification"
        try app.host.wait("the host says so") {
            try String(contentsOf: app.host.logFile, encoding: .utf8).contains(complaint)
        }
        #expect(try app.launch("news").outcome == "succeeded")
        #expect(app.host.stop() == 0)
        let log = try String(contentsOf: app.host.logFile, encoding: .utf8)
        #expect(log.components(separatedBy: complaint).count == 2, "\(log)")
    }
}
