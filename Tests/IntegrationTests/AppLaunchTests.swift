import Foundation
import TaskHostTestSupport
import Testing

/// Plugins with launch code: when the host runs that code, and what the code can do.
@Suite(.system) struct AppLaunchTests {
    /// Submits a refresh when the host launches it as an app; version 2 differs from version 1 in one word.
    static let source = """
        #include <bgtask.h>
        #include <stdio.h>
        #include <string.h>

        static void submit(bgtask_task *task, const bgtask_host *host, const char *identifier) {
            char why[256];
            bgtask_request request = {.struct_size = sizeof(request), .identifier = identifier};
            bgtask_error error = host->submit(task, &request, why, sizeof(why));
            printf("submit %s gave %d: %s\\n", identifier, error, why);
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            printf("EDITION runs %s as kind %d\\n", launch->identifier, launch->kind);
            if (launch->kind == BGTASK_KIND_APP_LAUNCH) {
                submit(task, host, launch->identifier);
                submit(task, host, "com.example.app.refresh");
            }
            host->complete(task, 1, NULL);
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        void bgtask_app_entry(void) {}
        """

    static func manifest(_ identifier: String = "com.example.app.refresh") -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.app
        library: libapp.so
        modes: [fetch]
        tasks:
          - identifier: \(identifier)
            kind: appRefresh
        """
    }

    static func install(_ version: String, in host: HostProcess, identifier: String? = nil) throws {
        try host.install(
            source.replacingOccurrences(of: "EDITION", with: version), library: "libapp.so",
            manifest: manifest(identifier ?? "com.example.app.refresh"), named: "app")
    }

    /// The outcomes of the app's launches, newest first; `running` for a launch without an outcome.
    static func outcomes(_ host: HostProcess, of identifier: String = "com.example.app") throws -> [String] {
        try host.launches(of: identifier).map { $0["outcome"] as? String ?? "running" }
    }

    @Test func `an app is launched when it is installed and when its library changes, not when the host is`()
        throws
    {
        let host = try HostProcess()
        try host.start()
        host.run("conditions", "set", "power=battery:15%", "user=active", "lowPower=on")
        try Self.install("one", in: host)
        try host.wait("it is launched") { try Self.outcomes(host) == ["succeeded"] }
        let row = try #require(try host.launches(of: "com.example.app").first)
        #expect(row["kind"] as? String == "appLaunch")
        let shown = host.run("show", "L1").output
        #expect(shown.contains("one runs com.example.app as kind 7"), "\(shown)")
        #expect(shown.contains("submit com.example.app gave 3"), "\(shown)")
        #expect(shown.contains("submit com.example.app.refresh gave 0"), "\(shown)")
        #expect(host.run("pending").output.contains("com.example.app.refresh"))

        #expect(host.stop() == 0)
        try host.start()
        try FileManager.default.removeItem(at: host.plugins.appendingPathComponent("libapp.so"))
        try Self.install("two", in: host)
        try host.wait("it is launched again") { try Self.outcomes(host) == ["succeeded", "succeeded"] }
        let newest = try #require(try host.launches(of: "com.example.app").first?["launch"] as? String)
        #expect(host.run("show", newest).output.contains("two runs com.example.app as kind 7"))
        #expect(host.stop() == 0)
    }

    @Test func `a host that is killed between installations launches nothing twice`() throws {
        let host = try HostProcess()
        try Self.install("one", in: host)
        try host.start()
        try host.wait("it is launched") { try Self.outcomes(host) == ["succeeded"] }
        host.kill()
        try host.start()
        #expect(try Self.outcomes(host) == ["succeeded"])
        #expect(!host.run("pending").output.contains("appLaunch"))
        #expect(host.stop() == 0)
    }

    @Test func `opening launches the app, counts as a use and lifts a dismissal`() throws {
        let host = try HostProcess()
        try Self.install("one", in: host)
        try host.start()
        try host.wait("it is launched") { try Self.outcomes(host) == ["succeeded"] }
        host.run("settings", "dismiss", "com.example.app")
        let before = try #require(try (host.json("settings") as? [[String: Any]])?.first)
        #expect(before["dismissedAt"] is String && before["lastUsed"] is NSNull, "\(before)")
        let answer = host.run("open", "com.example.app", "--wait")
        #expect(answer.status == 0, "\(answer)")
        let after = try #require(try (host.json("settings") as? [[String: Any]])?.first)
        #expect(after["dismissedAt"] is NSNull && after["lastUsed"] is String, "\(after)")
        #expect(try Self.outcomes(host) == ["succeeded", "succeeded"])
        #expect(host.stop() == 0)
    }

    @Test func `what is no app is not opened, and that is no use`() throws {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try host.start()
        let answer = host.run("open", "com.example.counting")
        #expect(answer.status == 4 && answer.errors.contains("does not export bgtask_app_entry"), "\(answer)")
        let bundle = try #require(try (host.json("settings") as? [[String: Any]])?.first)
        #expect(bundle["lastUsed"] is NSNull, "\(bundle)")
        let unknown = host.run("open", "com.example.nobody")
        #expect(
            unknown.status == 4 && unknown.errors.contains("no installed manifest has this bundle"),
            "\(unknown)")
        #expect(host.stop() == 0)
    }

    @Test func `a task that is called as its bundle keeps the name, and the launch gets another`() throws {
        let host = try HostProcess()
        try Self.install("one", in: host, identifier: "com.example.app")
        try host.start()
        try host.wait("it is launched") {
            try Self.outcomes(host, of: "com.example.app.appLaunch") == ["succeeded"]
        }
        let plugin = try #require(
            try (host.json("plugins") as? [String: Any])?["plugins"] as? [[String: Any]]
        ).first
        #expect(plugin?["appLaunch"] as? String == "com.example.app.appLaunch")
        #expect(host.stop() == 0)
    }

    @Test func `an app that is taken away and comes back is launched again`() throws {
        let host = try HostProcess()
        try Self.install("one", in: host)
        try host.start()
        try host.wait("it is launched") { try Self.outcomes(host) == ["succeeded"] }
        let manifest = host.manifests.appendingPathComponent("app.yaml")
        try FileManager.default.removeItem(at: manifest)
        try host.wait("it is gone") { !host.run("plugins").output.contains("com.example.app") }
        try Self.manifest().write(to: manifest, atomically: true, encoding: .utf8)
        try host.wait("it is launched again") { try Self.outcomes(host) == ["succeeded", "succeeded"] }
        #expect(host.stop() == 0)
    }
}
