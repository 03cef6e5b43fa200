import Foundation
import TaskHostTestSupport
import Testing

/// Declarations that sources for iOS use besides background tasks: scenes, stored values, locks, submodules.
@Suite(.system) struct AppDeclarationTests {
    @Test func `a scene enters foreground and background at an app launch, and its delegate submits`() throws
    {
        let app = try AppHost("WindowApp", tasks: ["refresh": "appRefresh"])
        let first = try #require(try app.host.launches(of: app.bundle).first?["launch"] as? String)
        let lines = app.lines(of: first)
        let order = [
            "scene connects to Default Configuration, -1",
            "posted UISceneWillConnectNotification by UIWindowScene",
            "scene enters foreground, 1",
            "posted UISceneWillEnterForegroundNotification by UIWindowScene",
            "scene is active, 0",
            "posted UISceneDidActivateNotification by UIWindowScene",
            "scene resigns, 0",
            "posted UISceneWillDeactivateNotification by UIWindowScene",
            "scene enters background, 2",
            "posted UISceneDidEnterBackgroundNotification by UIWindowScene",
            "posted UIApplicationDidEnterBackgroundNotification by UIApplication",
        ]
        let heard = lines.compactMap { line in order.first { line.hasSuffix($0) } }
        #expect(heard == order, "\(lines.joined(separator: "\n"))")
        #expect(!lines.contains { $0.contains("never called") || $0.contains("DidDisconnect") }, "\(lines)")
        #expect(try app.pending() == ["org.example.window.refresh"])

        let refresh = try app.launch("refresh")
        #expect(refresh.outcome == "succeeded" && refresh.says("last success: none"), "\(refresh)")
        #expect(refresh.says("scenes of a background launch: 0"), "\(refresh.lines)")
        let second = try app.launch("refresh")
        #expect(second.says("last success: true"), "\(second.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `values are stored, objects kept, errors logged and URLs refused`() throws {
        let app = try AppHost(
            "ModernStorageApp", tasks: ["refresh": "appRefresh", "locks": "appRefresh"])
        let first = try #require(try app.host.launches(of: app.bundle).first?["launch"] as? String)
        let made = app.lines(of: first).filter { $0.contains(" model") }
        #expect(
            made.map { $0.split(separator: " ").suffix(4).joined(separator: " ") } == [
                "the model is made", "the same model: 1", "the same model: 2",
            ], "\(made)")

        let launch = try app.launch("refresh")
        #expect(launch.outcome == "succeeded", "\(launch)")
        for text in [
            "stored: 0, quiet, none", "the feed changes", "problem: true, none: (null)", "private: <private>",
            "opened: false", "on the main thread: true, opened: false",
        ] {
            #expect(launch.says(text), "\(text) in \(launch.lines.joined(separator: "\n"))")
        }
        #expect(launch.says("bgtask settings"), "\(launch.lines.joined(separator: "\n"))")
        #expect(try app.launch("refresh").says("stored: 1, loud, kept"))
        #expect(try app.launch("refresh").says("stored: 2, quiet, none"))

        let locks = try app.launch("locks")
        #expect(locks.says("counted: 160000, held: true, free: true"), "\(locks.lines)")
        #expect(app.host.stop() == 0)
    }
}
