import Foundation
import TaskHostTestSupport
import Testing

/// Apps in the style of Apple's tutorials and of public code, unmodified and built as plugins.
@Suite(.system) struct AppStyleTests {
    @Test func `an app with scene modifiers registers, refreshes, submits again, and is cancelled`() throws {
        let app = try AppHost(
            "SceneApp",
            tasks: ["refresh": "appRefresh", "slow": "appRefresh", "other": "appRefresh"])
        #expect(try app.pending() == ["org.example.scene.refresh"], "the scene went to the background")

        let refresh = try app.launch("refresh")
        #expect(refresh.outcome == "succeeded", "\(refresh)")
        #expect(refresh.says("refreshing org.example.scene"), "\(refresh.lines)")
        #expect(try app.pending() == ["org.example.scene.refresh"])
        app.host.run("cancel", "org.example.scene.refresh")

        let slow = try app.expire("slow", after: "slow begins")
        #expect(slow.says("slow is cancelled") && slow.says("slow ends, cancelled: true"), "\(slow.lines)")
        #expect(slow.outcome == "expired" && slow.reason == "simulated", "\(slow)")

        let other = try app.launch("other")
        #expect(other.outcome == "succeeded" && other.says("any other: org.example.scene.other"), "\(other)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an app with a delegate is launched, refreshes on an operation queue, and hears pushes`()
        throws
    {
        let app = try AppHost(
            "DelegateApp", modes: "fetch, processing, remote-notification",
            tasks: [
                "refresh": "appRefresh", "clean": "processing", "push": "push, payload: {word: string}",
            ])
        #expect(try app.pending() == ["org.example.delegate.refresh"], "applicationDidEnterBackground ran")

        let refresh = try app.launch("refresh")
        #expect(refresh.outcome == "succeeded", "\(refresh)")
        #expect(refresh.says("first operation") && refresh.says("last operation"))
        #expect(refresh.says("refreshed 2 feeds of <private> and everybody"), "\(refresh.lines)")

        let clean = try app.launch("clean")
        #expect(clean.outcome == "succeeded" && clean.says("on the main thread: true"), "\(clean)")
        #expect(clean.says("still here, time left: true"), "an assertion outlives completion: \(clean.lines)")

        app.host.run("push", "org.example.delegate", #"{"word": "hello"}"#)
        try app.host.wait("the push has ended") {
            try app.host.launches(of: "org.example.delegate.push").first?["outcome"] is String
        }
        let push = try #require(try app.host.launches(of: "org.example.delegate.push").first)
        #expect(
            push["outcome"] as? String == "succeeded" && push["message"] as? String == "newData", "\(push)")
        #expect(
            app.lines(of: try #require(push["launch"] as? String)).contains {
                $0.contains("push: hello, state background: true")
            })
        #expect(app.host.stop() == 0)
    }

    @Test func `code that was written around the scheduler finds all it names`() throws {
        let app = try AppHost(
            "RetrofittedApp",
            tasks: [
                "refresh": "appRefresh", "errors": "processing", "list": "processing",
                "export.*": "continuedProcessing",
            ])
        let refresh = try app.launch("refresh")
        #expect(refresh.outcome == "succeeded", "the second completion is ignored: \(refresh)")
        #expect(refresh.says("unpermitted: false"))

        let errors = try app.launch("errors")
        #expect(errors.says("first idiom"))
        #expect(errors.says("second idiom, not permitted"))
        #expect(errors.says("third idiom, not permitted: "))
        #expect(errors.says("Add the identifier to that manifest's tasks"), "\(errors.lines)")

        let list = try app.launch("list")
        #expect(
            list.says("pending org.example.retrofitted.list, power true, later true"),
            "a request is copied when it is submitted: \(list.lines)")
        #expect(list.says("left 0"))

        let answer = app.host.run(
            "submit", "org.example.retrofitted.export.album", "--title", "Export", "--subtitle", "begins",
            "--wait")
        #expect(answer.status == 0, "\(answer)")
        let export = try #require(try app.host.launches(of: "org.example.retrofitted.export.album").first)
        #expect((export["progress"] as? [String: Any])?["completed"] as? Int == 4, "\(export)")
        #expect(app.host.stop() == 0)
    }

    @Test func `what Swift and Foundation offer works in a clone of a template`() throws {
        let app = try AppHost("FeaturesApp", tasks: ["all": "processing", "one": "processing"])
        let all = try app.launch("all")
        #expect(all.outcome == "succeeded", "\(all.lines)")
        #expect(all.says("0 failed"))
        let logged = app.host.run("logs", "--launch", try #require(all.row["launch"] as? String)).output
        #expect(logged.contains("a feature"), "\(logged)")
        #expect(app.host.stop() == 0)
    }
}
