import Foundation
import TaskHostTestSupport
import Testing

/// Requests with more than the basic properties.
@Suite(.system) struct AppRequestTests {
    private func start(modes: String = "fetch, processing") throws -> AppHost {
        try AppHost(
            "RequestsApp", modes: modes,
            tasks: [
                "later": "processing", "refresh": "appRefresh", "study": "processing",
                "resumes": "processing",
            ])
    }

    @Test func `a request is submitted without holding up the caller, awaited or with a call back`() throws {
        let app = try start()
        let later = try app.launch("later")
        #expect(later.outcome == "succeeded", "\(later)")
        for line in [
            #"submitted ["org.example.requests.refresh"]"#, "elsewhere is not permitted",
            "called back, error: none",
        ] {
            #expect(later.says(line), "\(line): \(later.lines)")
        }
        let row = try #require((try app.host.json("pending") as? [[String: Any]])?.first)
        let request = try #require(row["request"] as? [String: Any])
        #expect(request["earliestBeginDate"] is String, "it was copied before the call returned: \(request)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an expiring launch that ends unfinished is put back with its checkpoint`() throws {
        let app = try start()
        let first = try app.expire("resumes", after: "attempt 1 from the start")
        #expect(first.outcome == "expired" && first.reason == "simulated", "\(first)")
        #expect(first.says("is not expiring, so it can't end unfinished"), "asked too early: \(first.lines)")
        try app.host.wait("the second attempt has ended") {
            try app.host.launches(of: "org.example.requests.resumes").filter { $0["outcome"] is String }.count
                == 2
        }
        let second = try #require(try app.host.launches(of: "org.example.requests.resumes").first)
        #expect(second["outcome"] as? String == "succeeded" && second["attempt"] as? Int == 2, "\(second)")
        let lines = app.lines(of: try #require(second["launch"] as? String))
        #expect(lines.contains { $0.contains("attempt 2 from the middle") }, "\(lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a pending continued request has its title and second line`() throws {
        let app = try AppHost(
            "RequestsApp", tasks: ["lists": "processing", "export": "continuedProcessing"],
            settings: "scheduling:\n  continuedSlots: 0\n")
        let submitted = app.host.run(
            "submit", "org.example.requests.export", "--title", "Export", "--subtitle", "begins")
        #expect(submitted.status == 0, "\(submitted)")
        let lists = try app.launch("lists")
        #expect(lists.says("pending: Export, begins"), "\(lists.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a study's tasks and requests are of their own class where the manifest has its mode`() throws
    {
        let app = try start(modes: "fetch, processing, health-research")
        let study = try app.launch("study")
        #expect(study.outcome == "succeeded", "\(study)")
        #expect(study.says("pending org.example.requests.study, power true"), "\(study.lines)")
        #expect(app.host.stop() == 0)

        let other = try start()
        let refused = try other.launch("study")
        #expect(refused.says("a BGProcessingTask"), "\(refused.lines)")
        #expect(
            refused.says("the manifest of org.example.requests does not have this mode"), "\(refused.lines)")
        #expect(refused.says("Add to its modes: health-research"), "\(refused.lines)")
        #expect(try other.pending() == [])
        #expect(other.host.stop() == 0)
    }

    @Test func `only what the app's own code has submitted is told to be a chain that ends`() throws {
        let app = try start()
        #expect(try app.launch("later").outcome == "succeeded")
        #expect(app.host.run("submit", "org.example.requests.later", "--wait").status == 0)
        #expect(!app.host.run("plugins").output.contains("chainEnds"), "both were asked for by hand")
        #expect(try app.launch("refresh").outcome == "succeeded")
        let told = app.host.run("plugins").output
        #expect(
            told.contains("refresh will not run again: the plugin itself submitted its last request"),
            "\(told)")
        #expect(app.host.stop() == 0)
    }
}
