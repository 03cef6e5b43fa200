import Foundation
import TaskHostTestSupport
import Testing

/// Jobs that never end, on a real host: they let other requests start first, and in the end they fail.
@Suite(.system) struct PutBackTests {
    /// A handler that works until it must stop, and then returns without completing. The task `job`
    /// completes.
    static let endless = """
        #include <bgtask.h>
        #include <string.h>
        #include <unistd.h>

        static void run(bgtask_task *task, const bgtask_host *host) {
            host->expiration_descriptor(task);
            if (strstr(host->launch(task)->identifier, ".job")) {
                host->complete(task, 1, "done");
                return;
            }
            while (!host->expired(task, NULL)) usleep(10000);
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    static func install(in host: HostProcess) throws {
        for (bundle, task) in [("one", "endless"), ("two", "endless"), ("three", "job")] {
            let manifest = """
                apiVersion: bgtask/v1
                bundle: com.example.\(bundle)
                library: lib\(bundle).so
                modes: [processing]
                tasks:
                  - identifier: com.example.\(bundle).\(task)
                    kind: processing
                    limits: {runtime: 2s}
                """
            try host.install(endless, library: "lib\(bundle).so", manifest: manifest, named: bundle)
        }
    }

    @Test func `two jobs that never end do not keep the job of a third bundle from starting`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        for bundle in ["one", "two"] { host.run("submit", "com.example.\(bundle).endless") }
        try host.wait("both run") { try host.launches().count { $0["state"] as? String == "running" } == 2 }
        host.run("submit", "com.example.three.job")
        let before = try host.launches().count
        let waiting = host.run("explain", "com.example.three.job").output
        if waiting.contains("waits") { #expect(waiting.contains("no  Concurrency"), "\(waiting)") }
        try host.wait("the job ends") {
            try host.launches(of: "com.example.three.job").first?["outcome"] as? String == "succeeded"
        }
        // The job got the first slot that became free.
        let launch = try #require(host.launches(of: "com.example.three.job").first?["launch"] as? String)
        #expect(launch == "L\(before + 1)" || launch == "L\(before + 2)", "\(launch) after \(before)")
        #expect(host.stop() == 0)
    }

    @Test func `beside two jobs that never end, twenty jobs of others start within two leases`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        let library = host.plugins.appendingPathComponent("libthree.so")
        let names = (0..<20).map { "other\($0)" }
        for name in names {
            try FileManager.default.copyItem(
                at: library, to: host.plugins.appendingPathComponent("lib\(name).so"))
            try """
            apiVersion: bgtask/v1
            bundle: com.example.\(name)
            library: lib\(name).so
            modes: [processing]
            tasks:
              - identifier: com.example.\(name).job
                kind: processing
                limits: {runtime: 2s}
            """.write(
                to: host.manifests.appendingPathComponent("\(name).yaml"), atomically: true, encoding: .utf8)
        }
        try host.start()
        for bundle in ["one", "two"] { host.run("submit", "com.example.\(bundle).endless") }
        try host.wait("both run") { try host.launches().count { $0["state"] as? String == "running" } == 2 }
        let before = try host.launches().count
        for name in names { host.run("submit", "com.example.\(name).job") }
        func first(_ name: String) throws -> Int? {
            try (host.launches(of: "com.example.\(name).job").last?["launch"] as? String)
                .flatMap { Int($0.dropFirst()) }
        }
        try host.wait("all twenty have started") { try names.allSatisfy { try first($0) != nil } }
        // Before the last of the twenty jobs started, each of the two endless jobs had at most the launch
        // that was under way, and one more. Launches are counted, not seconds, so a busy machine does not
        // matter.
        let last = try #require(names.compactMap { try first($0) }.max())
        for bundle in ["one", "two"] {
            let later = try host.launches(of: "com.example.\(bundle).endless")
                .compactMap { ($0["launch"] as? String).flatMap { Int($0.dropFirst()) } }
                .filter { $0 > before && $0 < last }
            #expect(later.count <= 1, "\(bundle): \(later) before L\(last)")
        }
        #expect(host.stop() == 0)
    }

    @Test func `a job that never gets further fails after the last attempt, and its author learns why`()
        throws
    {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_BACK_OFF_BASE"] = "100ms"
        host.environment["BGTASK_SCHEDULING_ATTEMPTS_WITHOUT_PROGRESS"] = "2"
        try Self.install(in: host)
        try host.start()
        let answer = host.run("submit", "com.example.one.endless", "--wait")
        #expect(answer.status == 1, "\(answer)")
        #expect(answer.output.contains("R1 is pending again (attempt 2), and may start"), "\(answer)")
        let sentence =
            "This attempt and an earlier one brought neither a new checkpoint nor further progress"
        #expect(answer.output.contains("failed (attemptsWithoutProgress)"), "\(answer)")
        #expect(answer.output.contains(sentence), "\(answer)")
        let rows = try host.launches(of: "com.example.one.endless")
        #expect(rows.compactMap { $0["outcome"] as? String } == ["failed", "expired"])
        #expect(rows.first?["reason"] as? String == "attemptsWithoutProgress")
        #expect(rows.first?["message"] as? String == answer.output.lineWithMessage(sentence))
        #expect(host.run("plugins").output.contains("save a checkpoint"), "\(host.run("plugins").output)")
        #expect(host.run("pending").output.contains("Nothing is pending"))
        #expect(host.stop() == 0)
    }
}

extension String {
    /// The text from a sentence to the end of its line.
    fileprivate func lineWithMessage(_ sentence: String) -> String? {
        range(of: sentence).map { String(self[$0.lowerBound...].prefix { $0 != "\n" }) }
    }
}
