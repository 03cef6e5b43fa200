import Foundation
import TaskHostTestSupport
import Testing

/// Schedules and retries in a whole host, as a user sees them.
@Suite(.system) struct ScheduleTests {
    /// A handler that fails until its third attempt; it counts the attempts in its checkpoint. The task
    /// `steady` always succeeds. The first attempt of `crashing` aborts, and that of `expiring` runs until it
    /// expires.
    static let stubborn = """
        #include <bgtask.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            int attempt = 1;
            char text[16];
            if (launch->checkpoint) attempt = atoi(launch->checkpoint) + 1;
            snprintf(text, sizeof text, "%d", attempt);
            host->checkpoint(task, text, strlen(text) + 1);
            if (strstr(launch->identifier, "steady")) {
                host->complete(task, 1, "done");
            } else if (strstr(launch->identifier, "crashing") && attempt == 1) {
                usleep(200000);
                abort();
            } else if (strstr(launch->identifier, "expiring") && attempt == 1) {
                host->expiration_descriptor(task);
                while (!host->expired(task, NULL)) usleep(10000);
            } else {
                host->complete(task, attempt >= 3, "not yet");
            }
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    /// A host with these tasks; each has a name with a kind, and its further manifest keys.
    static func host(_ tasks: (name: String, keys: String)...) throws -> HostProcess {
        let host = try HostProcess()
        let list = tasks.map {
            "  - {identifier: com.example.stubborn.\($0.name), kind: processing, \($0.keys)}"
        }
        try host.install(
            stubborn, library: "libstubborn.so",
            manifest: """
                apiVersion: bgtask/v1
                bundle: com.example.stubborn
                library: libstubborn.so
                modes: [processing]
                tasks:
                \(list.joined(separator: "\n"))

                """, named: "stubborn")
        return host
    }

    static func outcomes(_ host: HostProcess, of name: String) throws -> [String] {
        try host.launches(of: "com.example.stubborn.\(name)").reversed().compactMap {
            $0["outcome"] as? String
        }
    }

    @Test func `a retry takes the place of the schedule's next date, and does not wait for it`() throws {
        let host = try Self.host(("task", "schedule: {every: 30d, tolerance: 1d}"), ("other", ""))
        try host.start()
        let task = "com.example.stubborn.task"
        host.run("launch", task, "--wait")
        let failed = try #require(host.launches(of: task).first?["request"] as? String)
        // The schedule's next request waits for its date.
        var next: String?
        try host.wait("a request of the schedule") {
            let rows = try host.json("pending") as? [[String: Any]]
            let request = rows?.compactMap { $0["request"] as? [String: Any] }.first
            next = request?["request"] as? String
            return next != nil && next != failed
        }
        let answer = host.run("retry", failed)
        #expect(answer.output.contains("and replaces \(next ?? "")"), "\(answer)")
        // It may run already, and then none is pending.
        #expect(try (host.json("pending") as? [[String: Any]]).map { $0.count <= 1 } == true)
        #expect(host.stop() == 0)
    }

    @Test func `retry --failed goes on after a task that is gone, and names it`() throws {
        let host = try Self.host(("task", ""), ("other", ""))
        try host.start()
        host.run("launch", "com.example.stubborn.other", "--wait")
        let manifest = host.manifests.appending(path: "stubborn.yaml")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        host.run("launch", "com.example.stubborn.task", "--wait")
        let without = text.replacing("com.example.stubborn.other", with: "com.example.stubborn.third")
        try without.write(to: manifest, atomically: true, encoding: .utf8)
        host.run("reload")
        let answer = host.run("retry", "--failed", "--since", "1h")
        #expect(answer.status == 4, "\(answer)")
        #expect(answer.errors.contains("R1 is not submitted again: com.example.stubborn.other"), "\(answer)")
        #expect(answer.output.contains("com.example.stubborn.task is pending"), "\(answer)")
        #expect(host.stop() == 0)
    }

    @Test func `a task that fails is tried again until it succeeds, and --wait follows it`() throws {
        let host = try Self.host(("task", "retry: {attempts: 3, backoff: 1s}"))
        try host.start()
        let answer = host.run("submit", "com.example.stubborn.task", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(try Self.outcomes(host, of: "task") == ["failed", "failed", "succeeded"])
        #expect(host.stop() == 0)
    }

    @Test func `launch --wait ends with its own attempt, and says when the next one starts`() throws {
        let host = try Self.host(("task", "retry: {attempts: 3, backoff: 1h}"))
        try host.start()
        let answer = host.run("launch", "com.example.stubborn.task", "--wait")
        #expect(answer.status == 1, "\(answer)")
        #expect(
            answer.output.contains(
                "Attempt 1 failed ('retry' gives up after 3 failures); the next one starts in "),
            "\(answer)")
        #expect(answer.output.contains("bgtask logs -f --identifier com.example.stubborn.task"))
        #expect(host.run("cancel", "com.example.stubborn.task").status == 0)
        let json = host.run("launch", "com.example.stubborn.task", "--wait", "--json")
        #expect(json.output.contains("\"next\""), "\(json)")
        #expect(host.stop() == 0)
    }

    @Test func `when its attempts are used up it has failed, and --wait says so`() throws {
        let host = try Self.host(
            ("task", "retry: {attempts: 2, backoff: 1s}"), ("once", "delivery: atLeastOnce"))
        try host.start()
        #expect(host.run("submit", "com.example.stubborn.task", "--wait").status == 1)
        #expect(try Self.outcomes(host, of: "task") == ["failed", "failed"])
        #expect(host.run("submit", "com.example.stubborn.once", "--wait").status == 1)
        #expect(try Self.outcomes(host, of: "once") == ["failed"])
        #expect(!host.run("pending").output.contains("com.example.stubborn"))
    }

    @Test func `an expired launch is no failed attempt`() throws {
        let host = try Self.host(("expiring", "retry: {attempts: 2, backoff: 1s}"))
        try host.start()
        host.run("submit", "com.example.stubborn.expiring")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.run("expire", "com.example.stubborn.expiring", "--reason", "simulated").status == 0)
        try host.wait("all attempts have ended") { try Self.outcomes(host, of: "expiring").count == 3 }
        // If the expired attempt counted, the first failure would have been the last attempt.
        #expect(try Self.outcomes(host, of: "expiring") == ["expired", "failed", "succeeded"])
    }

    @Test func `a crash is a failed attempt, and failures outlive a restart of the host`() throws {
        let host = try Self.host(("crashing", "retry: {attempts: 3, backoff: 5s}"))
        try host.start()
        host.run("submit", "com.example.stubborn.crashing")
        try host.wait("it has crashed") { try Self.outcomes(host, of: "crashing") == ["crashed"] }
        #expect(host.stop() == 0)
        try host.start()
        try host.wait("all attempts have ended", seconds: 60) {
            try Self.outcomes(host, of: "crashing").count == 3
        }
        #expect(try Self.outcomes(host, of: "crashing") == ["crashed", "failed", "succeeded"])
    }

    @Test func `power that comes starts an onPower task, once each time`() throws {
        let host = try Self.host(("steady", "schedule: {onPower: true}"))
        try host.start()
        #expect(try host.launches().isEmpty)
        for count in 1...2 {
            #expect(host.run("conditions", "set", "power=battery:60%").status == 0)
            #expect(host.run("conditions", "set", "power=external").status == 0)
            try host.wait("it has run") {
                try Self.outcomes(host, of: "steady") == Array(repeating: "succeeded", count: count)
            }
        }
        #expect(host.run("plugins").output.contains("on power"))
    }

    @Test func `a network that comes starts an onNetwork task`() throws {
        let host = try Self.host(("steady", "schedule: {onNetwork: true}"))
        try host.start()
        host.run("conditions", "set", "network=none")
        #expect(try host.launches().isEmpty)
        host.run("conditions", "set", "network=metered")
        try host.wait("it has run") { try Self.outcomes(host, of: "steady") == ["succeeded"] }
    }

    @Test func `a calendar schedule comes at its dates`() throws {
        let host = try Self.host(("steady", #"schedule: {at: "*:*:*", timeZone: UTC, tolerance: 0s}"#))
        try host.start()
        try host.wait("it has run twice") { try Self.outcomes(host, of: "steady").count >= 2 }
        let rows = try host.launches(of: "com.example.stubborn.steady")
        #expect(rows.allSatisfy { $0["outcome"] as? String ?? "succeeded" == "succeeded" })
    }

    @Test func `a calendar schedule's next date waits as a pending request`() throws {
        let host = try Self.host(("steady", #"schedule: {at: "2199-12-24 18:00", timeZone: Europe/Berlin}"#))
        try host.start()
        try host.wait("its request is pending") {
            host.run("pending", "--json").output.contains("2199-12-24T17:00:00.000Z")
        }
        #expect(try host.launches().isEmpty)
    }

    @Test func `a file that changes starts the task that names it`() throws {
        let host = try HostProcess()
        let file = host.directory.appendingPathComponent("inbox/new/file")
        try host.install(
            Self.stubborn, library: "libstubborn.so",
            manifest: """
                apiVersion: bgtask/v1
                bundle: com.example.stubborn
                library: libstubborn.so
                modes: [processing]
                tasks:
                  - identifier: com.example.stubborn.steady
                    kind: processing
                    schedule: {onFileChange: \(file.path)}
                """, named: "stubborn")
        try host.start()
        #expect(try host.launches().isEmpty)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        for count in 1...2 {
            try host.wait("it has run") {
                // The file is written repeatedly: first until the watch exists, then while the first launch
                // ends.
                try Data("\(UInt64.random(in: 0 ... .max))".utf8).write(to: file)
                return try Self.outcomes(host, of: "steady").count >= count
            }
        }
        #expect(host.stop() == 0)
    }

    @Test func `an onBoot task runs at the host's first start of a boot, not at the second`() throws {
        let host = try Self.host(
            ("steady", "schedule: {onBoot: true}"), ("steady.other", "delivery: atLeastOnce"))
        try host.start()
        try host.wait("it has run") { try Self.outcomes(host, of: "steady") == ["succeeded"] }
        #expect(host.stop() == 0)
        try host.start()
        #expect(host.run("submit", "com.example.stubborn.steady.other", "--wait").status == 0)
        #expect(try Self.outcomes(host, of: "steady") == ["succeeded"])
    }

    @Test func `wake is heard, or what it lacks is a warning, and the task runs all the same`() throws {
        let host = try Self.host(("steady", #"schedule: {at: "*:*:*", wake: true, tolerance: 0s}"#))
        try host.start()
        try host.wait("it has run") { try Self.outcomes(host, of: "steady").first == "succeeded" }
        let canWake = FileManager.default.fileExists(atPath: "/sys/class/rtc/rtc0")
        let listing = host.run("plugins").output
        #expect(canWake || listing.contains("warning: wake: "), "\(listing)")
    }

    @Test func `lint shows the next dates of a calendar schedule`() throws {
        let host = try Self.host(
            ("steady", #"schedule: {at: "2198,2199-12-24 18:00", timeZone: Europe/Berlin}"#))
        let file = host.manifests.appendingPathComponent("stubborn.yaml").path
        let answer = host.run("lint", "--dates", file)
        #expect(answer.status == 0, "\(answer)")
        #expect(
            answer.output == """
                com.example.stubborn.steady: 2198,2199-12-24 18:00 in Europe/Berlin
                  Mon 2198-12-24 18:00:00 CET (+01:00)
                  Tue 2199-12-24 18:00:00 CET (+01:00)

                """)
        let json = host.run("lint", "--dates", "--json", file).output
        #expect(json.contains("2198-12-24T17:00:00.000Z") && json.contains("\"problems\""))
    }
}
