import Foundation
import TaskHostTestSupport
import Testing

/// An app with every kind of work, in the manner of Apple's documentation.
@Suite(.system) struct AppCorpusTests {
    private func start() throws -> AppHost {
        try AppHost(
            "CorpusApp", modes: "fetch, processing, remote-notification, health-research",
            tasks: [
                "refresh": "appRefresh", "clean": "processing", "study": "processing", "tidy": "activity",
                "export.*": "continuedProcessing", "push": "push",
            ])
    }

    @Test func `the scene submits a refresh, a cleaning that expires, and a study, and sends the rest`()
        throws
    {
        let app = try start()
        let first = try #require(try app.host.launches(of: app.bundle).first)
        #expect(first["outcome"] as? String == "succeeded", "\(first)")
        let lines = app.lines(of: try #require(first["launch"] as? String))
        #expect(lines.contains { $0.contains("sent, identifier: true") }, "\(lines)")
        #expect(try app.pendingRequests()["refresh"] != nil)
        // Nothing holds back the cleaning and the study on an idle machine with power.
        let clean = try app.newestLaunch(of: "clean")
        try app.hear("cleaning", from: clean)
        app.host.run("expire", clean)
        let cleaned = try app.end(clean)
        #expect(cleaned.outcome == "expired" && cleaned.says("cleaned: false"), "\(cleaned)")
        let study = try app.end(app.newestLaunch(of: "study"))
        #expect(study.outcome == "succeeded" && study.says("samples: 12"), "\(study)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a refresh, an activity, an export and a push are launched`() throws {
        let app = try start()
        let refresh = try app.launch("refresh")
        let steps = refresh.lines.compactMap { $0.components(separatedBy: "feed: ").dropFirst().first }
        #expect(refresh.outcome == "succeeded" && steps == ["fetch", "parse", "store"], "\(refresh.lines)")
        #expect(try app.pendingRequests()["refresh"] != nil, "the handler submits the next request")

        let tidy = try app.launch("tidy")
        #expect(tidy.outcome == "succeeded" && tidy.says("tidied"), "\(tidy)")

        let answer = app.request("export.album", "--wait")
        #expect(answer.status == 0, "\(answer)")
        let export = try #require(try app.host.launches(of: "org.example.corpus.export.album").first)
        #expect((export["progress"] as? [String: Any])?["completed"] as? Int == 20, "\(export)")
        #expect(export["subtitle"] as? String == "20 of 20 photos", "\(export)")

        app.host.run("push", app.bundle, #"{"articles": ["one", "two"]}"#)
        try app.host.wait("the push has ended") {
            try app.host.launches(of: "org.example.corpus.push").first?["outcome"] is String
        }
        let push = try #require(try app.host.launches(of: "org.example.corpus.push").first)
        #expect(push["message"] as? String == "newData", "\(push)")

        // The host announces the endpoint of UnifiedPush in this way.
        for (endpoint, line) in [
            ("\"https://push.test/x\"", "token: https://push.test/x"), ("null", "no token: "),
        ] {
            let count = try app.host.launches(of: "org.example.corpus.push").count
            app.host.run(
                "push", app.bundle, "{\"unifiedPush\": {\"endpoint\": \(endpoint)}}", "--priority", "10")
            try app.host.wait("the endpoint was announced") {
                let rows = try app.host.launches(of: "org.example.corpus.push")
                return rows.count > count && rows.first?["outcome"] is String
            }
            let row = try #require(try app.host.launches(of: "org.example.corpus.push").first)
            #expect(row["message"] as? String == "noData", "\(row)")
            #expect(app.lines(of: try #require(row["launch"] as? String)).contains { $0.contains(line) })
        }
        #expect(app.host.stop() == 0)
    }
}
