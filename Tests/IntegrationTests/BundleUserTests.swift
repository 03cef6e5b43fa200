import Foundation
import TaskHostTestSupport
import Testing

/// A user of its own for each bundle of a real host that runs as root.
@Suite(.system) struct BundleUserTests {
    /// A plugin that tries to read the file and to signal the process that its payload names.
    private static let source = """
        #include <bgtask.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context);
        static const bgtask_host *the_host;

        static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
            (void)expiration;
            (void)context;
            the_host->complete(task, 1, "expired");
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            the_host = host;
            const char *payload = host->launch(task)->payload;
            char answer[200];
            int own = open("own", O_CREAT | O_WRONLY, 0644), out = open("/dev/stdout", O_WRONLY);
            if (payload == NULL || payload[0] == 0) {
                host->set_expiration_handler(task, expire, NULL);
                host->progress(task, 1, 2, "runs");
                for (;;) pause();
            }
            char path[512] = "";
            const char *file = strchr(payload, '/'), *process = strstr(payload, "process");
            sscanf(file, "%511[^\\"]", path);
            process += strcspn(process, "0123456789");
            int secret = open(path, O_RDONLY);
            snprintf(answer, sizeof answer, "user %d own %s stdout %s secret %s signal %s",
                     (int)getuid(), own >= 0 ? "opened" : "closed", out >= 0 ? "opened" : "closed",
                     secret >= 0 ? "opened" : "closed", kill(atoi(process), 0) == 0 ? "sent" : "refused");
            host->complete(task, 1, answer);
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    private static func manifest(_ bundle: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: \(bundle)
        library: \(bundle).so
        modes: [processing]
        tasks:
          - identifier: \(bundle).run
            kind: processing
            requiresExternalPower: false
            requiresNetworkConnectivity: false
        """
    }

    private func host(_ users: String? = nil) throws -> HostProcess {
        let host = try HostProcess()
        if let users { host.environment["BGTASK_ISOLATION_USERS"] = users }
        for bundle in ["com.example.a", "com.example.b"] {
            try host.install(
                Self.source, library: "\(bundle).so", manifest: Self.manifest(bundle), named: bundle)
        }
        return host
    }

    private func owner(_ path: URL) -> UInt32? {
        var facts = stat()
        return lstat(path.path, &facts) == 0 ? facts.st_uid : nil
    }

    /// A process with this working directory.
    private func process(in directory: URL) -> Int? {
        let files = FileManager.default
        return (try? files.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int($0) }.first {
            (try? files.destinationOfSymbolicLink(atPath: "/proc/\($0)/cwd")) == directory.path
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can give users"))
    func `each bundle has a user, who stays the same, and everything shows it`() throws {
        let host = try host("2100000000-2100000999")
        // What an older host left belongs to root.
        let data = host.state.appendingPathComponent("data")
        let old = data.appendingPathComponent("com.example.b/old")
        try FileManager.default.createDirectory(
            at: old.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("old".utf8).write(to: old)
        try host.start()
        host.run("submit", "com.example.b.run")
        try host.wait("the victim runs") {
            try host.launches(of: "com.example.b.run").first?["progress"] is [String: Any]
        }
        let process = try #require(self.process(in: data.appendingPathComponent("com.example.b")))
        let secret = data.appendingPathComponent("com.example.b/own")
        let users = try ["a", "b"].map { name in
            if name == "a" {
                let answer = host.run(
                    "submit", "com.example.a.run", "--wait", "--payload",
                    "{\"file\": \"\(secret.path)\", \"process\": \(process)}")
                #expect(answer.status == 0, "\(answer)")
            }
            return try #require(owner(data.appendingPathComponent("com.example.\(name)")))
        }
        #expect(users[0] != users[1] && users.allSatisfy { (2_100_000_000...2_100_000_999).contains($0) })
        #expect(owner(secret) == users[1] && owner(old) == users[1])
        let row = try #require(try host.launches(of: "com.example.a.run").first)
        #expect(
            row["message"] as? String
                == "user \(users[0]) own opened stdout opened secret closed signal refused")
        #expect((row["isolation"] as? String ?? "").contains(", user, "), "\(row)")
        let doctor = host.run("doctor").output
        #expect(doctor.contains("yes  sandbox: user per bundle: an attempt succeeded"), "\(doctor)")
        let security = host.run("security", "com.example.a").output
        #expect(security.contains("Tasks run as a user of the bundle's own"), "\(security)")
        #expect(host.stop() == 0)

        // Another host finds the same users.
        try host.start()
        let answer = host.run(
            "submit", "com.example.a.run", "--wait", "--payload",
            "{\"file\": \"\(secret.path)\", \"process\": \(process)}")
        #expect(answer.output.contains("user \(users[0]) own opened"), "\(answer)")
        #expect(host.stop() == 0)
    }

    /// Submits a task that ends at once; returns what the command line says about the end.
    private func submit(_ identifier: String, to host: HostProcess) -> HostProcess.Answer {
        host.run(
            "submit", identifier, "--wait", "--payload", "{\"file\": \"/nowhere\", \"process\": 1}")
    }

    @Test(.enabled(if: getuid() == 0, "only root can give users"))
    func `a bundle for which no user is free fails with the reason and the remedy, and doctor says so`()
        throws
    {
        // One of them is for the program that makes transfers.
        let host = try host("2100001000-2100001001")
        try host.start()
        #expect(submit("com.example.a.run", to: host).status == 0)
        #expect(host.run("doctor").output.contains("yes  sandbox: user per bundle"))

        let answer = submit("com.example.b.run", to: host)
        let row = try #require(try host.launches(of: "com.example.b.run").first)
        #expect(row["outcome"] as? String == "failed" && row["reason"] as? String == "unprepared", "\(row)")
        #expect(
            answer.output.contains("all 2 users of 'isolation.users' (2100001000-2100001001) are taken")
                && answer.output.contains("Set 'isolation.users' to more users"), "\(answer)")
        // It is not tried again by itself.
        #expect(try host.launches(of: "com.example.b.run").count == 1)
        let doctor = host.run("doctor").output
        #expect(
            doctor.contains(
                "no   sandbox: user per bundle: launches of 1 bundle fail. com.example.b: all 2 users"),
            "\(doctor)")
        #expect(submit("com.example.a.run", to: host).status == 0)
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only root can give users"))
    func `a new bundle gets the user of a removed one only after its data is gone, and nothing of it`()
        throws
    {
        // One of them is for the program that makes transfers.
        let host = try host("2100003000-2100003001")
        let others = host.manifests.appendingPathComponent("com.example.b.yaml")
        let later = try String(contentsOf: others, encoding: .utf8)
        try FileManager.default.removeItem(at: others)
        try host.start()
        #expect(submit("com.example.a.run", to: host).status == 0)
        let data = host.state.appendingPathComponent("data/com.example.a")
        let user = try #require(owner(data))

        // The manifest is replaced by another bundle's; the directory stays, and with it the number.
        try FileManager.default.removeItem(at: host.manifests.appendingPathComponent("com.example.a.yaml"))
        try later.write(to: others, atomically: true, encoding: .utf8)
        try host.wait("the new bundle") { host.run("plugins").output.contains("com.example.b") }
        #expect(submit("com.example.b.run", to: host).status != 0)
        #expect(host.stop() == 0)
        try host.start()
        #expect(submit("com.example.b.run", to: host).status != 0)
        #expect(host.stop() == 0)

        // Without the directory, the number is free. No file of the state directory has kept its owner.
        try FileManager.default.removeItem(at: data)
        try host.start()
        let kept = Command.run("find", host.state.path, "-uid", "\(user)")
        #expect(kept.output.isEmpty, "\(kept.output)")
        #expect(submit("com.example.b.run", to: host).status == 0)
        #expect(owner(host.state.appendingPathComponent("data/com.example.b")) == user)
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only root can give users"))
    func `a data directory that is too deep to be given fails with a command that helps`() throws {
        let host = try host("2100002000-2100002999")
        // What an older host left belongs to root.
        let data = host.state.appendingPathComponent("data/com.example.a")
        try FileManager.default.createDirectory(
            at: URL(filePath: data.path + String(repeating: "/d", count: 250)),
            withIntermediateDirectories: true)
        try host.start()
        #expect(submit("com.example.a.run", to: host).status != 0)
        let row = try #require(try host.launches(of: "com.example.a.run").first)
        #expect(row["outcome"] as? String == "failed" && row["reason"] as? String == "unprepared", "\(row)")
        #expect(
            host.run("doctor").output.contains("no   sandbox: user per bundle: launches of 1 bundle fail"))
        let message = try #require(row["message"] as? String)
        let command = try #require(message.split(separator: " or run: ").last?.split(separator: ". [").first)
        #expect(Command.run("/bin/sh", "-c", String(command)).status == 0, "\(message)")

        #expect(submit("com.example.a.run", to: host).status == 0)
        #expect(host.run("doctor").output.contains("yes  sandbox: user per bundle"))
        #expect(host.stop() == 0)
    }

    @Test func `without users, tasks run as the user of the host, and doctor says why`() throws {
        let host = try host("none")
        try host.start()
        let answer = host.run(
            "submit", "com.example.a.run", "--wait", "--payload",
            "{\"file\": \"/nowhere\", \"process\": 1}")
        #expect(answer.output.contains("user \(getuid()) own opened"), "\(answer)")
        let doctor = host.run("doctor").output
        let reason =
            getuid() == 0 ? "the setting 'isolation.users' is 'none'" : "only root can give each bundle"
        #expect(doctor.contains("no   sandbox: user per bundle: \(reason)"), "\(doctor)")
        let security = host.run("security", "com.example.a").output
        #expect(!security.contains("Tasks run as a user of the bundle's own"), "\(security)")
        #expect(host.stop() == 0)
    }
}
