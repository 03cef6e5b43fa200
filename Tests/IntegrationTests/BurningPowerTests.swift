import Foundation
import TaskHostTestSupport
import Testing

/// The CPU monitor and external power, with the real upowerd and handlers that use CPU time without a pause.
@Suite(.system, .enabled(if: PrivateBus.powerObstacle == nil, "needs upower, umockdev and python3-dbusmock"))
struct BurningPowerTests {
    /// Uses CPU time from its checkpoint on, and saves a checkpoint for every 50 ms of CPU time.
    static let burning = """
        #include <bgtask.h>
        #include <stdio.h>
        #include <string.h>
        #include <time.h>

        static long milliseconds(void) {
            struct timespec now;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
            return now.tv_sec * 1000 + now.tv_nsec / 1000000;
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            long position = 0;
            host->expiration_descriptor(task);
            if (launch->checkpoint) sscanf(launch->checkpoint, "%ld", &position);
            printf("from %ld\\n", position);
            fflush(stdout);
            for (long next = milliseconds() + 50; !host->expired(task, NULL);) {
                if (milliseconds() < next) continue;
                next += 50;
                char text[32];
                snprintf(text, sizeof text, "%ld", ++position);
                host->checkpoint(task, text, strlen(text) + 1);
                host->progress(task, position, 1000000, "burning");
            }
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    /// Two tasks with one limit: 0.4 s of CPU time within 2 s.
    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.burning
        library: libburning.so
        modes: [processing]
        tasks:
          - identifier: com.example.burning.plugged
            kind: processing
            requiresExternalPower: true
            limits: {cpu: {percent: 20, window: 2s}}
          - identifier: com.example.burning.anywhere
            kind: processing
            limits: {cpu: {percent: 20, window: 2s}}
        """

    static let plugged = "com.example.burning.plugged"
    static let anywhere = "com.example.burning.anywhere"

    @Test func `the CPU monitor is relaxed exactly while the plug is in, and only for who requires it`()
        throws
    {
        let bus = try PrivateBus()
        try bus.start()
        let laptop = try FakedPower(on: bus)
        try laptop.unplug()
        let host = try HostProcess()
        host.conditions = "system"
        host.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
        try host.install(Self.burning, library: "libburning.so", manifest: Self.manifest, named: "burning")
        try host.start()
        host.run("conditions", "set", "network=unmetered", "thermal=nominal", "user=idle", "pressure=none")
        #expect(host.run("conditions").output.contains("battery:57%"))

        // Without external power the first task does not start; the other one starts, and exceeds its limit.
        host.run("submit", Self.plugged)
        host.run("submit", Self.anywhere)
        try host.wait("the limit ends what requires no power") {
            try Self.ends(of: Self.anywhere, in: host) > 0
        }
        host.run("cancel", Self.anywhere)
        #expect(try Self.reasons(of: Self.anywhere, in: host).last == "cpuLimit")
        #expect(try host.launches(of: Self.plugged).isEmpty)
        let waiting = host.run("explain", Self.plugged).output
        #expect(waiting.contains("ExternalPower") && waiting.contains("battery at 57 %"), "\(waiting)")

        var delays: [Double] = []
        for pull in 1...3 {
            try laptop.plug()
            // The task uses four times the limit; if the limit applied, the launch would have ended long
            // before.
            try host.wait("it burns without being ended") {
                let newest = try host.launches(of: Self.plugged).first
                return newest?["attempt"] as? Int ?? 0 >= pull
                    && (newest?["state"] as? String == "ended" || newest?["cpuSeconds"] as? Double ?? 0 > 1.6)
            }
            let ended = try Self.reasons(of: Self.plugged, in: host)
            try #require(ended.count == pull - 1, "\(ended)")
            if pull == 1 {
                let before = try Self.ends(of: Self.anywhere, in: host)
                host.run("submit", Self.anywhere)
                try host.wait("with the plug in the other one is ended all the same") {
                    try Self.ends(of: Self.anywhere, in: host) > before
                }
                host.run("cancel", Self.anywhere)
            }
            #expect(try host.launches(of: Self.plugged).first?["state"] as? String == "running")
            #expect(try Self.limits(of: Self.newest(in: host), in: host) == ["lifted"])

            let pulled = Date()
            try laptop.unplug()
            try host.wait("it has ended") { try Self.ends(of: Self.plugged, in: host) == pull }
            let newest = try #require(try host.launches(of: Self.plugged).first)
            #expect(newest["outcome"] as? String == "expired", "\(newest)")
            #expect(newest["reason"] as? String == "externalPowerLost")
            delays.append(try Self.end(of: newest).timeIntervalSince(pulled))
            #expect(try Self.limits(of: Self.newest(in: host), in: host) == ["lifted", "in force"])
        }
        // A request that was put back may have started again before it was cancelled.
        let others = Set(try Self.reasons(of: Self.anywhere, in: host))
        #expect(others.contains("cpuLimit") && others.isSubset(of: ["cpuLimit", "cancelledByUser"]))
        #expect(try Self.reasons(of: Self.plugged, in: host).allSatisfy { $0 == "externalPowerLost" })
        // The fastest of three counts: a busy machine may be late once, but a host that polls or delays is
        // always late.
        #expect(try #require(delays.min()) < 1, "\(delays)")
        // Each attempt continued where the one before was stopped.
        let starts = host.run("logs", "--identifier", Self.plugged).output.split(separator: "\n")
            .compactMap { line in line.range(of: "from ").flatMap { Int(line[$0.upperBound...]) } }
        #expect(starts.count == 3 && starts[0] == 0, "\(starts)")
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 >= $0 + 20 }, "\(starts)")
        #expect(host.stop() == 0)
        laptop.end()
    }

    private static func ended(_ identifier: String, in host: HostProcess) throws -> [[String: Any]] {
        try host.launches(of: identifier).filter { $0["state"] as? String == "ended" }
    }

    /// How many launches ended without a user's cancellation.
    private static func ends(of identifier: String, in host: HostProcess) throws -> Int {
        try reasons(of: identifier, in: host).count { $0 != "cancelledByUser" }
    }

    private static func reasons(of identifier: String, in host: HostProcess) throws -> [String] {
        try ended(identifier, in: host).map { $0["reason"] as? String ?? "none" }
    }

    private static func newest(in host: HostProcess) throws -> String {
        try #require(try host.launches(of: plugged).first?["launch"] as? String)
    }

    /// The log's texts about a launch's CPU limit, in order.
    private static func limits(of launch: String, in host: HostProcess) throws -> [String] {
        host.run("logs", "--launch", launch).output.split(separator: "\n").compactMap { line in
            line.contains("CPU limit lifted on external power")
                ? "lifted" : line.contains("CPU limit in force") ? "in force" : nil
        }
    }

    private static func end(of launch: [String: Any]) throws -> Date {
        let text = try #require(launch["endedAt"] as? String)
        return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
