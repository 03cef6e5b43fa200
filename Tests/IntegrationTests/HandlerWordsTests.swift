import Foundation
import TaskHostTestSupport
import Testing

/// What the host passes to a handler besides its launch, and what it does with a handler's messages.
@Suite(.system) struct HandlerWordsTests {
    static let source = """
        #include <bgtask.h>
        #include <poll.h>
        #include <semaphore.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>

        static sem_t over;

        static void say(const char *when, const bgtask_conditions *now) {
            printf("%s: low %d thermal %d power %d battery %d refresh %d defer %d\\n", when, now->low_power_mode,
                   now->thermal, now->power, now->battery, now->refresh, now->should_defer);
        }

        static void changed(bgtask_task *task, const bgtask_conditions *now, void *context) {
            say("changed", now);
            if (now->refresh != BGTASK_REFRESH_AVAILABLE || now->should_defer)
                sem_post(&over);
        }

        static void submit(bgtask_task *task, const bgtask_host *host, const char *identifier, int64_t deadline) {
            char why[256];
            bgtask_request request = {.struct_size = sizeof(request), .identifier = identifier, .title = "From a handler",
                                      .deadline_milliseconds = deadline, .earliest_begin_milliseconds = 4102444800000};
            bgtask_error error = host->submit(task, &request, why, sizeof(why));
            printf("submit %s gave %d: %s\\n", identifier, error, why);
        }

        static void print(const bgtask_pending_request *request, void *context) {
            printf("pending %s titled %s\\n", request->identifier, request->title);
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            const char *what = strrchr(launch->identifier, '.') + 1;
            sem_init(&over, 0, 0);
            if (strcmp(what, "watch") == 0 || strcmp(what, "activity") == 0) {
                for (const char *const *word = launch->permitted_identifiers; *word != NULL; word++)
                    printf("permitted %s\\n", *word);
                for (const char *const *word = launch->modes; *word != NULL; word++)
                    printf("mode %s\\n", *word);
                host->expiration_descriptor(task);
                host->set_conditions_handler(task, changed, NULL);
                bgtask_conditions now = {.struct_size = sizeof(now)};
                host->conditions(task, &now);
                say("at first", &now);
                sem_wait(&over);
            } else if (strcmp(what, "faults") == 0) {
                host->fault(task, "0x8badf00d", "an assertion leaked\\nflush, 31 s");
                abort();
            } else if (strcmp(what, "leaks") == 0) {
                host->complete(task, 1, "fine");
                host->fault(task, "0x8badf00d", "an assertion leaked after completion");
                abort();
            } else if (strcmp(what, "export") == 0) {
                host->set_title(task, "Exporting", "7 of 12");
                struct pollfd expired = {.fd = host->expiration_descriptor(task), .events = POLLIN};
                if (launch->attempt == 1)
                    poll(&expired, 1, -1);
                else
                    host->complete(task, 1, launch->title);
                return;
            } else if (strcmp(what, "submits") == 0) {
                submit(task, host, "com.example.words.export", 0);
                submit(task, host, "com.example.words.activity", 4102445000000);
                host->pending(task, print, NULL);
            } else if (strcmp(what, "advises") == 0) {
                host->set_expiration_handler(task, NULL, NULL);
                host->advise(task, "tooLate", "EDITION registers late: register earlier");
                host->log_as(task, BGTASK_LOG_ERROR, "com.example", "net", "no answer");
            } else if (strcmp(what, "forgets") == 0) {
                return;
            }
            host->complete(task, 1, NULL);
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.words
        library: libwords.so
        modes: [processing, fetch]
        tasks:
          - {identifier: com.example.words.watch, kind: processing}
          - {identifier: com.example.words.faults, kind: processing}
          - {identifier: com.example.words.leaks, kind: processing}
          - {identifier: com.example.words.advises, kind: appRefresh}
          - {identifier: com.example.words.forgets, kind: processing}
          - {identifier: com.example.words.submits, kind: processing}
          - {identifier: com.example.words.activity, kind: activity}
          - {identifier: com.example.words.export, kind: continuedProcessing}
          - {identifier: com.example.words.copy.*, kind: continuedProcessing}
        """

    private func started(_ edition: String = "One") throws -> HostProcess {
        let host = try HostProcess()
        try Self.install(edition, in: host)
        try host.start()
        return host
    }

    private static func install(_ edition: String, in host: HostProcess) throws {
        try? FileManager.default.removeItem(at: host.plugins.appendingPathComponent("libwords.so"))
        try host.install(
            source.replacingOccurrences(of: "EDITION", with: edition), library: "libwords.so",
            manifest: manifest,
            named: "words")
    }

    /// Launches a task of the fixture and returns the launch's number, such as `L42`.
    private func launch(_ label: String, on host: HostProcess) throws -> String {
        let row = try #require(
            try host.json("launch", "com.example.words.\(label)") as? [String: Any], "\(label)")
        return try #require(
            (row["launch"] as? [String: Any])?["launch"] as? String ?? row["launch"] as? String, "\(row)")
    }

    private func shown(_ launch: String, on host: HostProcess) throws -> [String: Any] {
        let detail = try #require(try host.json("show", launch) as? [String: Any])
        return try #require(detail["launch"] as? [String: Any])
    }

    /// Launches a task of the fixture and waits until the launch has ended.
    private func ended(_ label: String, on host: HostProcess) throws -> (name: String, row: [String: Any]) {
        let name = try launch(label, on: host)
        try host.wait("\(label) ends") { try shown(name, on: host)["state"] as? String == "ended" }
        return (name, try shown(name, on: host))
    }

    @Test
    func `a handler is told what its manifest permits, and each change of what it may know of the machine`()
        throws
    {
        let host = try started()
        host.run("conditions", "set", "power=battery:60%", "lowPower=off")
        let name = try launch("watch", on: host)
        func prints(_ line: String) throws {
            try host.wait("it prints '\(line)'") { host.run("show", name).output.contains(line) }
        }
        try prints("at first: low 0 thermal 0 power 1 battery 60 refresh 2 defer 0")
        host.run("conditions", "set", "power=charging:61%")
        try prints("changed: low 0 thermal 0 power 2 battery 61 refresh 2 defer 0")
        // The host does not pass the free space to handlers, so this change prints nothing.
        host.run("conditions", "set", "storage=5GiB")
        host.run("conditions", "set", "power=external", "lowPower=on")
        try prints("changed: low 1 thermal 0 power 3 battery -1 refresh 2 defer 0")
        host.run("settings", "refresh", "com.example.words", "deny")
        try prints("changed: low 1 thermal 0 power 3 battery -1 refresh 1 defer 0")
        try host.wait("it ends") { try shown(name, on: host)["outcome"] as? String == "succeeded" }
        let lines = host.run("show", name).output.split(separator: "\n")
        #expect(lines.count { $0.contains("changed:") } == 3, "\(lines)")
        #expect(lines.contains { $0.hasSuffix("permitted com.example.words.watch") })
        #expect(lines.contains { $0.hasSuffix("permitted com.example.words.copy.*") })
        #expect(
            lines.filter { $0.contains(" mode ") }.map { String($0.suffix(10)) } == [
                "mode fetch", "processing",
            ])
        #expect(host.stop() == 0)
    }

    @Test func `an activity hears that it should defer before it is told to stop`() throws {
        let host = try started()
        let name = try launch("activity", on: host)
        try host.wait("it runs") { host.run("show", name).output.contains("at first:") }
        host.run("expire", name, "--reason", "userReturned")
        try host.wait("it ends") { try shown(name, on: host)["state"] as? String == "ended" }
        #expect(host.run("show", name).output.contains("defer 1"))
        // The handler completes when it should defer, so the launch succeeds.
        #expect(try shown(name, on: host)["outcome"] as? String == "succeeded")
        #expect(host.stop() == 0)
    }

    @Test func `a fault is the message of the crash, and a line of the report where the task had completed`()
        throws
    {
        let host = try started()
        let crash = try ended("faults", on: host).row
        #expect(crash["outcome"] as? String == "crashed" && crash["code"] as? String == "0x8badf00d")
        #expect(crash["message"] as? String == "0x8badf00d: an assertion leaked")
        #expect(crash["report"] as? String == "flush, 31 s")
        let (name, leak) = try ended("leaks", on: host)
        #expect(leak["outcome"] as? String == "succeeded" && leak["message"] as? String == "fine")
        #expect(leak["report"] as? String == "0x8badf00d: an assertion leaked after completion")
        let errors = host.run("logs", "--launch", name).output
        #expect(
            errors.contains(" error ") && errors.contains("an assertion leaked after completion"), "\(errors)"
        )
        #expect(host.stop() == 0)
    }

    @Test func `a title is shown while it runs, told to who waits, and kept by the next attempt`() throws {
        let host = try started()
        let name = try launch("export", on: host)
        try host.wait("its title is there") { try shown(name, on: host)["title"] as? String == "Exporting" }
        #expect(try host.launches().first?["subtitle"] as? String == "7 of 12")
        #expect(host.run("show", name).output.contains("7 of 12"))
        host.run("expire", name)
        try host.wait("the second attempt ends") {
            try host.launches().first?["outcome"] as? String == "succeeded"
        }
        #expect(try host.launches().first?["message"] as? String == "Exporting")
        #expect(try host.launches().map { $0["title"] as? String } == ["Exporting", "Exporting"])
        #expect(host.stop() == 0)
    }

    @Test func `a handler may not submit continued tasks, and an activity's window is its deadline`() throws {
        let host = try started()
        let name = try ended("submits", on: host).name
        let output = host.run("show", name).output
        #expect(
            output.contains(
                "submit com.example.words.export gave 3: a continued task starts when a user asks for it, and this request came from a handler"
            ), "\(output)")
        #expect(output.contains("pending com.example.words.activity titled From a handler"), "\(output)")
        let pending = try #require(try host.json("pending") as? [[String: Any]])
        let request = try #require(pending.first?["request"] as? [String: Any])
        #expect(request["deadline"] as? String == "2100-01-01T00:03:20.000Z", "\(request)")
        #expect(host.stop() == 0)
    }

    /// The codes of the advice that `bgtask plugins` lists.
    private func advice(_ host: HostProcess) throws -> [String] {
        let listing = try #require(try host.json("plugins") as? [String: Any])
        let plugins = try #require(listing["plugins"] as? [[String: Any]])
        return (plugins.first?["advice"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String }
    }

    @Test func `advice is told once per version of the library, over restarts of the host`() throws {
        let host = try started()
        let first = try ended("advises", on: host).name
        #expect(try advice(host) == ["tooLate", "noExpirationHandler"])
        _ = try ended("forgets", on: host)
        let codes = ["tooLate", "noExpirationHandler", "neverCompleted"]
        #expect(try advice(host) == codes)
        let log = host.run("logs", "--launch", first, "--level", "warning").output
        #expect(
            log.contains("advice for com.example.words: One registers late: register earlier [tooLate]"),
            "\(log)")
        #expect(
            host.run("plugins").output.contains(
                "com.example.words: advice: One registers late: register earlier [tooLate, \(first)]"))

        let second = try ended("advises", on: host).name
        #expect(!host.run("logs", "--launch", second).output.contains("advice"))
        #expect(host.stop() == 0)
        try host.start()
        #expect(try advice(host) == codes)
        let third = try ended("advises", on: host).name
        #expect(!host.run("logs", "--launch", third).output.contains("advice"))

        try Self.install("Two", in: host)
        try host.wait("it is forgotten") { try advice(host).isEmpty }
        let fourth = try ended("advises", on: host).name
        #expect(host.run("logs", "--launch", fourth).output.contains("Two registers late"))
        #expect(host.stop() == 0)
    }

    @Test func `a chain with a pending request or a schedule is not over`() throws {
        let host = try HostProcess()
        try host.install(
            Self.source, library: "libwords.so",
            manifest: Self.manifest.replacingOccurrences(
                of: "com.example.words.advises, kind: appRefresh",
                with: "com.example.words.advises, kind: appRefresh, schedule: {every: 1h}"), named: "words")
        try host.start()
        // The schedule's launch must end first, because an identifier has at most one launch at a time.
        try host.wait("the launch of its schedule has ended") {
            try host.launches(of: "com.example.words.advises").first?["outcome"] is String
        }
        _ = try ended("advises", on: host)
        #expect(try advice(host) == ["tooLate", "noExpirationHandler"])
        // The test submits the identifier while its launch is running. So the launch leaves a pending request
        // when it ends, and the host must not advise that the chain of requests is over.
        let name = try launch("watch", on: host)
        try host.wait("it runs") { host.run("show", name).output.contains("at first:") }
        host.run("submit", "com.example.words.watch", "--earliest", "1h")
        host.run("settings", "refresh", "com.example.words", "deny")
        try host.wait("it ends") { try shown(name, on: host)["outcome"] as? String == "succeeded" }
        #expect(try advice(host) == ["tooLate", "noExpirationHandler"])
        #expect(host.stop() == 0)
    }

    @Test func `the log is filtered by subsystem, category and level`() throws {
        let host = try started()
        _ = try ended("advises", on: host)
        let lines = host.run("logs", "--subsystem", "com.example", "--category", "net", "--level", "warning")
            .output
            .split(separator: "\n")
        #expect(lines.count == 1 && lines.first?.hasSuffix("[com.example:net] no answer") == true, "\(lines)")
        #expect(host.run("logs", "--subsystem", "com.example", "--category", "other").output.isEmpty)
        let errors = host.run("logs", "--level", "error", "--json").output.split(separator: "\n")
        #expect(
            errors.count == 1 && errors.first?.contains(#""subsystem":"com.example""#) == true, "\(errors)")
        #expect(host.stop() == 0)
    }
}
