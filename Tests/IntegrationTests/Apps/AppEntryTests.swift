import Foundation
import TaskHostTestSupport
import Testing

/// The entry points of an app's code, and the order in which the host calls them.
@Suite(.system) struct AppEntryTests {
    private func start() throws -> AppHost {
        try AppHost(
            "AdaptorApp",
            tasks: [
                "refresh": "appRefresh", "clean": "processing", "photos": "transferEvents",
                "slow": "transferEvents", "other": "transferEvents",
            ])
    }

    @Test func `an app with scenes and a delegate launches both, and hears each phase once`() throws {
        let app = try start()
        let first = try #require(try app.host.launches(of: app.bundle).first?["launch"] as? String)
        let order = [
            "the app begins", "the delegate is launched, the application's own: true", "phase active",
            "from active to inactive, change 1", "phase inactive", "from inactive to background, change 2",
            "phase background", "the delegate enters the background",
        ]
        let said = app.lines(of: first).compactMap { line in order.first { line.contains($0) } }
        #expect(said == order, "\(app.lines(of: first))")
        #expect(try app.pending() == ["org.example.adaptor.refresh"])

        let refresh = try app.launch("refresh")
        #expect(refresh.outcome == "succeeded", "\(refresh)")
        #expect(refresh.says("refreshing, the delegate was launched 1 times"), "\(refresh.lines)")
        #expect(refresh.says("phase background"), "a launch begins in the background: \(refresh.lines)")
        #expect(!refresh.says("change 1") && !refresh.says("enters the background"), "\(refresh.lines)")

        let clean = try app.launch("clean")
        #expect(clean.outcome == "succeeded" && clean.says("the delegate's handler"), "\(clean)")
        #expect(app.host.stop() == 0)
    }

    @Test func `events of transfers go to the scene that names their session, else to the delegate`() throws {
        let app = try start()
        let photos = try app.launch("photos")
        #expect(photos.outcome == "succeeded" && photos.says("events of the photos"), "\(photos.lines)")
        #expect(!photos.says("the delegate has events"), "\(photos.lines)")
        let other = try app.launch("other")
        #expect(other.outcome == "succeeded", "\(other)")
        #expect(other.says("the delegate has events of org.example.adaptor.other"), "\(other.lines)")

        let slow = try app.expire("slow", after: "events of org.example.adaptor.slow")
        #expect(
            slow.says("cancelled: true"), "the action is cancelled when the launch expires: \(slow.lines)")
        #expect(slow.outcome == "expired" && slow.reason == "simulated", "\(slow)")
        #expect(app.host.stop() == 0)
    }

    @Test
    func `a handler that belongs to the main actor runs on the queue that it was registered with, unchecked`()
        throws
    {
        let app = try AppHost(
            "ModernApp",
            tasks: ["work": "processing", "bound": "processing", "main": "processing", "free": "processing"])
        let main = try app.launch("main")
        #expect(main.outcome == "succeeded" && main.says("on the main thread: true"), "\(main)")
        let free = try app.launch("free")
        #expect(free.outcome == "succeeded" && free.says("then on the main actor"), "\(free)")
        let bound = try app.launch("bound")
        #expect(bound.outcome == "succeeded", "\(bound)")
        #expect(
            bound.says("bound to the main actor, on the main thread: false"),
            "PortFromIOS.md tells: \(bound.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `apps in the Swift 6 language mode run as those of Swift 5 do`() throws {
        let app = try AppHost(
            "ModernApp", tasks: ["work": "processing", "slow": "processing", "bound": "processing"])
        #expect(try app.pending() == ["org.example.modern.work"])
        let work = try app.launch("work")
        #expect(work.outcome == "succeeded" && work.says("the sum is 55"), "\(work.lines)")
        let slow = try app.expire("slow", after: "slow begins")
        #expect(slow.outcome == "expired" && slow.says("slow is told to stop"), "\(slow)")
        #expect(app.host.stop() == 0)

        let scenes = try AppHost("ModernSceneApp", tasks: ["refresh": "appRefresh"])
        #expect(try scenes.pending() == ["org.example.modernscene.refresh"])
        let refresh = try scenes.launch("refresh")
        #expect(refresh.outcome == "succeeded", "\(refresh)")
        #expect(refresh.says("refreshed 1 times, on the main thread: true"), "\(refresh.lines)")
        #expect(try scenes.pending() == ["org.example.modernscene.refresh"])
        #expect(scenes.host.stop() == 0)
    }
}
