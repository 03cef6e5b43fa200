import Foundation
import TaskHostTestSupport
import Testing

/// A whole host as a user sees it: real processes, a real store and a real socket.
@Suite(.system) struct EndToEndTests {
    static let counting = """
        #include <bgtask.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            long position = 0;
            if (launch->checkpoint) sscanf(launch->checkpoint, "%ld", &position);
            printf("from %ld\\n", position);
            fflush(stdout);
            for (long i = position + 1; i <= 3; i++) {
                char text[32];
                snprintf(text, sizeof text, "%ld", i);
                host->checkpoint(task, text, strlen(text) + 1);
                host->progress(task, i, 3, "counting");
                if (launch->payload && strstr(launch->payload, "wait")) {
                    while (!host->expired(task, NULL)) usleep(10000);
                    return;
                }
            }
            host->complete(task, 1, launch->kind == BGTASK_KIND_PUSH ? BGTASK_NEW_DATA : "counted");
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.counting
        library: libcounting.so
        modes: [fetch, processing]
        tasks:
          - identifier: com.example.counting.count
            kind: processing
          - identifier: com.example.counting.refresh
            kind: appRefresh
        """

    /// Installs the counting plugin, which polls for its expiration. It calls `expiration_descriptor` first,
    /// because a handler that has asked for no kind of expiration gets no grace period.
    static func install(in host: HostProcess, manifest: String = manifest) throws {
        let source = counting.replacingOccurrences(
            of: "long position = 0;", with: "long position = 0; host->expiration_descriptor(task);")
        try host.install(source, library: "libcounting.so", manifest: manifest, named: "counting")
    }

    @Test func `two dropped files become a job that runs without a restart`() throws {
        let host = try HostProcess()
        try host.start()
        try Self.install(in: host)
        try host.wait("the manifest is read") { host.run("plugins").output.contains("com.example.counting") }
        let answer = host.run("submit", "com.example.counting.count", "--wait")
        #expect(answer.status == 0, "\(answer)")
        let row = try #require(try host.launches().first)
        #expect(row["outcome"] as? String == "succeeded")
        #expect(row["identifier"] as? String == "com.example.counting.count")
        #expect((row["progress"] as? [String: Any])?["completed"] as? Int == 3)
        #expect(row["attempt"] as? Int == 1)
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test func `files that were dropped a moment ago are known to the next submission`() throws {
        let host = try HostProcess()
        try host.start()
        try Self.install(in: host)
        let answer = host.run("submit", "com.example.counting.count", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(host.stop() == 0)
    }

    @Test func `the doctor finds the same cgroup tree with a host and without one`() throws {
        struct Answer: Decodable {
            struct Check: Decodable {
                var name: String
                var isAvailable: Bool
            }
            struct Host: Decodable { var layers: [Check] }
            var machine: [Check]
            var host: Host?
        }
        let host = try HostProcess()
        try host.start()
        let answer = try JSONDecoder().decode(
            Answer.self, from: Data(host.run("doctor", "--json").output.utf8))
        let ofMachine = answer.machine.first { $0.name == "cgroup v2" }?.isAvailable
        let ofHost = answer.host?.layers.first { $0.name == "cgroup v2" }?.isAvailable
        #expect(ofMachine != nil && ofMachine == ofHost)
        #expect(host.stop() == 0)
    }

    @Test func `processing waits for an idle device and says so, unless its manifest ignores the user`()
        throws
    {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("conditions", "set", "user=active")
        host.run("submit", "com.example.counting.count")
        let waiting = host.run("explain", "com.example.counting.count").output
        #expect(waiting.contains("R1 waits") && waiting.contains("no  DeviceActivity"), "\(waiting)")
        #expect(try host.launches().isEmpty)
        let kiosk = Self.manifest.replacingOccurrences(
            of: "    kind: processing", with: "    kind: processing\n    deviceActivity: ignore")
        try kiosk.write(
            to: host.manifests.appendingPathComponent("counting.yaml"), atomically: true, encoding: .utf8)
        try host.wait("it runs") { try host.launches().first?["outcome"] as? String == "succeeded" }
        let recorded = host.run("explain", "--launch", "L1").output
        #expect(recorded.contains("It ended: succeeded"), "\(recorded)")
        #expect(host.stop() == 0)
    }

    @Test func `what a user set of a bundle survives the host, and a push waits while it is dismissed`()
        throws
    {
        let host = try HostProcess()
        let manifest = Self.manifest.replacingOccurrences(
            of: "modes: [fetch, processing]", with: "modes: [fetch, processing, remote-notification]")
        try host.install(
            Self.counting.replacingOccurrences(
                of: "long position = 0;", with: "long position = 0; host->expiration_descriptor(task);"),
            library: "libcounting.so",
            manifest: manifest + "\n  - identifier: com.example.counting.push\n    kind: push\n",
            named: "counting")
        try host.start()
        #expect(host.run("settings", "dismiss", "com.example.counting").status == 0)
        #expect(host.run("settings", "budget", "com.example.counting", "--launches", "7").status == 0)
        host.kill()
        try host.wait("the launcher has gone") { host.leftovers().isEmpty }
        try host.start()
        #expect(host.run("settings").output.contains("0 of 7"))
        #expect(host.run("push", "com.example.counting", "{}").status == 0)
        #expect(host.run("pending").output.contains("Waits for its bundle to be used again"))
        #expect(host.run("used", "com.example.counting").status == 0)
        try host.wait("the push is delivered") {
            try host.launches(of: "com.example.counting.push").first?["outcome"] as? String == "succeeded"
        }
        #expect(
            try host.launches(of: "com.example.counting.push").first?["message"] as? String == "newData")
        #expect(host.stop() == 0)
    }

    @Test func `a setting that the store can't take is refused, and stored when there is room`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        try host.limitFileSizes(to: 1)
        let refused = host.run("settings", "dismiss", "com.example.counting", "--json")
        #expect(refused.status == 4 && refused.output.contains("could not be stored"), "\(refused)")
        try host.limitFileSizes(to: nil)
        // This change is stored before its answer; the refused dismissal is stored together with it.
        #expect(host.run("settings", "refresh", "com.example.counting", "deny").status == 0)
        host.kill()
        try host.wait("the launcher has gone") { host.leftovers().isEmpty }
        try host.start()
        let rows = try #require(try host.json("settings") as? [[String: Any]])
        #expect(rows.first?["refresh"] as? String == "denied")
        #expect(rows.first?["dismissedAt"] is String)
        #expect(host.stop() == 0)
    }

    @Test func `an assertion that outlives its task lowers the bundle's conduct`() throws {
        let host = try HostProcess()
        try host.install(
            """
            #include <bgtask.h>
            #include <unistd.h>
            static void run(bgtask_task *task, const bgtask_host *host) {
                uint64_t assertion;
                host->begin_assertion(task, "never ended", &assertion);
                host->complete(task, 1, "completed");
                _exit(0);
            }
            static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
            const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
            """, library: "libcounting.so", manifest: Self.manifest, named: "counting")
        try host.start()
        #expect(host.run("submit", "com.example.counting.count", "--wait").status == 0)
        let answer = host.run("explain", "com.example.counting.refresh").output
        #expect(answer.contains("conduct is -"), "\(answer)")
        #expect(host.stop() == 0)
    }

    @Test func `an expired launch resumes from its checkpoint`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        #expect(host.run("expire", "com.example.counting.count", "--reason", "simulated").status == 0)
        try host.wait("the second attempt has made progress") {
            let newest = try host.launches().first
            return newest?["attempt"] as? Int == 2
                && (newest?["progress"] as? [String: Any])?["completed"] as? Int == 2
        }
        let first = try #require(try host.launches().last)
        #expect(first["outcome"] as? String == "expired")
        #expect(first["reason"] as? String == "simulated")
        #expect(host.stop() == 0)
    }

    @Test func `killed with SIGKILL, the host leaves no process and loses no request`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        host.run("submit", "com.example.counting.refresh", "--earliest", "1h")
        try host.wait("the first one runs") { try host.launches().first?["state"] as? String == "running" }
        host.kill()
        try host.wait("the launcher has emptied its groups and gone") { host.leftovers().isEmpty }
        try host.start()
        let rows = try host.launches(of: "com.example.counting.count")
        #expect(rows.last?["outcome"] as? String == "lost")
        #expect(rows.last?["reason"] as? String == "hostDied")
        #expect(host.run("pending").output.contains("com.example.counting.refresh"))
        try host.wait("the lost one is attempted again") {
            try host.launches(of: "com.example.counting.count").first?["attempt"] as? Int == 2
        }
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test func `a second host on the same state is refused with the owner named`() throws {
        let host = try HostProcess()
        try host.start()
        let second = Process()
        second.executableURL = HostProcess.products.appendingPathComponent("bgtaskd")
        second.arguments = [
            "--plugins", host.plugins.path, "--manifests", host.manifests.path, "--state", host.state.path,
            "--socket", host.directory.appendingPathComponent("run/second.sock").path,
        ]
        let errors = Pipe()
        second.standardError = errors
        second.standardOutput = errors
        try second.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        second.waitUntilExit()
        #expect(second.terminationStatus != 0)
        #expect(text.contains("\(host.processIdentifier)"), "\(text)")
        #expect(host.run("plugins").status == 0)
    }

    @Test func `a removed manifest expires its launch, and its request does not vanish silently`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        try FileManager.default.removeItem(at: host.manifests.appendingPathComponent("counting.yaml"))
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "manifestRemoved")
        let refused = host.run("submit", "com.example.counting.count", "--json")
        #expect(refused.status == 4)
        #expect(refused.output.contains("notPermitted") || refused.errors.contains("notPermitted"))
    }

    @Test func `a plugged-out task expires with externalPowerLost and waits for the plug`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.counting.count", "--external-power", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "externalPowerLost")
        #expect(host.run("pending").output.contains("com.example.counting.count"))
        host.run("conditions", "set", "power=external")
        try host.wait("it runs again") { try host.launches().first?["attempt"] as? Int == 2 }
    }

    @Test func `an end that the store can't take is shown at once and stored when there is room`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        // From here on no file may grow, which is like a full disk for the store.
        try host.limitFileSizes(to: 1)
        #expect(host.run("expire", "com.example.counting.count", "--reason", "cancelledByUser").status == 0)
        try host.wait("the end is shown") { try host.launches().first?["outcome"] as? String == "cancelled" }
        #expect(host.run("logs").output.contains("its end was not stored yet"))
        try host.limitFileSizes(to: nil)
        // The host retries after 5 s. If it is killed earlier, the end of the launch is lost.
        try host.wait("the end is stored") { host.run("logs").output.contains("its end is stored now") }
        host.kill()
        try host.wait("the launcher has gone") { host.leftovers().isEmpty }
        try host.start()
        let row = try #require(try host.launches(of: "com.example.counting.count").last)
        #expect(row["outcome"] as? String == "cancelled")
        #expect(row["reason"] as? String == "cancelledByUser")
        #expect(host.stop() == 0)
    }
}
