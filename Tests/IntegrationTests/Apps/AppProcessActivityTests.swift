import Foundation
import TaskHostTestSupport
import Testing

/// Activities of `ProcessInfo`: work during which the process must stay alive.
@Suite(.system) struct AppProcessActivityTests {
    private func start() throws -> AppHost {
        try AppHost(
            "ProcessActivitiesApp",
            tasks: Dictionary(
                uniqueKeysWithValues: ["finishes", "expires", "late", "begins"].map { ($0, "processing") }))
    }

    /// The lines of a launch after its process has ended; an activity can outlast its task.
    private func lines(of name: String, until last: String, in app: AppHost) throws -> [String] {
        let id = try app.begin(name)
        let ended = try app.end(id)
        #expect(ended.outcome == "succeeded", "\(ended)")
        try app.host.wait("\(id) says \(last)") { app.lines(of: id).contains { $0.contains(last) } }
        return app.lines(of: id)
    }

    @Test func `an expiring activity is called once with false, and outlives its task`() throws {
        let app = try start()
        let lines = try lines(of: "finishes", until: "flushed", in: app)
        #expect(lines.filter { $0.contains("flush, expired: ") }.count == 1, "\(lines)")
        #expect(lines.contains { $0.contains("flush, expired: false") }, "\(lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an expiring activity is called again with true when its time is up`() throws {
        let app = try start()
        let lines = try lines(of: "expires", until: "upload stops", in: app)
        let said = lines.filter { $0.contains("upload, expired: ") }
        #expect(said.count == 2 && said[0].contains("false") && said[1].contains("true"), "\(lines)")
        #expect(!lines.contains { $0.contains("0x8badf00d") }, "it obeyed in time: \(lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an expiring activity that comes too late is called with true alone`() throws {
        let app = try start()
        let late = try app.expire("late", after: "waits")
        let said = late.lines.filter { $0.contains("too late, expired: ") }
        #expect(said.count == 1 && said[0].contains("true"), "\(late.lines)")
        #expect(late.outcome == "expired", "\(late)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a begun activity keeps the process until it is ended, and a performed one runs at once`()
        throws
    {
        let app = try start()
        let lines = try lines(of: "begins", until: "synchronized", in: app)
        #expect(lines.contains { $0.contains("counted") }, "\(lines)")
        #expect(lines.contains { $0.contains("'sync'") || $0.contains("sync") }, "\(lines)")
        #expect(app.host.stop() == 0)
    }
}
