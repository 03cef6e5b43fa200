import Foundation
import TaskHostTestSupport
import Testing

/// What the command line shows of a running launch, and how the host reacts to the launch.
@Suite(.system, .serialized) struct LaunchMonitoringTests {
    static let busy = """
        #include <bgtask.h>
        #include <string.h>
        #include <unistd.h>

        static volatile unsigned long count;

        __attribute__((noinline)) static void burn(void) {
            for (;;) count++;
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            host->expiration_descriptor(task);
            if (strstr(host->launch(task)->identifier, "waits")) {
                while (!host->expired(task, NULL)) usleep(10000);
                return;
            }
            burn();
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.busy
        library: libbusy.so
        modes: [fetch, processing]
        tasks:
          - identifier: com.example.busy.spins
            kind: processing
          - identifier: com.example.busy.waits
            kind: processing
          - identifier: com.example.busy.limited
            kind: processing
            limits: {cpu: {percent: 20, window: 2s}}
        """

    static func install(in host: HostProcess) throws {
        try host.install(busy, library: "libbusy.so", manifest: manifest, named: "busy")
    }

    @Test func `the CPU time of a launch that still runs is shown`() throws {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.busy.spins")
        func seconds() throws -> Double {
            let row = try host.launches(of: "com.example.busy.spins").first
            return row?["state"] as? String == "running" ? row?["cpuSeconds"] as? Double ?? 0 : 0
        }
        try host.wait("CPU time is shown") { try seconds() > 0.1 }
        let first = try seconds()
        try host.wait("it grows") { try seconds() > first }
        let shown = try #require(try host.json("show", "L1") as? [String: Any])
        let launch = try #require(shown["launch"] as? [String: Any])
        #expect(launch["state"] as? String == "running")
        #expect((launch["cpuSeconds"] as? Double ?? 0) > first)
    }

    @Test
    func `a launch that spends its CPU quota is shown with numbers, samples and stack, also after a restart`()
        throws
    {
        let host = try HostProcess()
        try Self.install(in: host)
        try host.start()
        host.run("submit", "com.example.busy.limited")
        try host.wait("its first attempt ends") {
            try host.launches().contains { $0["state"] as? String == "ended" }
        }
        _ = host.run("cancel", "com.example.busy.limited")
        #expect(host.stop() == 0)
        try host.start()
        let shown = host.run("show", "L1").output
        #expect(shown.contains("cpuLimit"), "\(shown)")
        #expect(shown.contains("exceeding 20 % over 2 s"), "\(shown)")
        #expect(shown.contains("CPU time at each sample: "), "\(shown)")
        #expect(shown.contains("\n    burn+0x"), "\(shown)")
        #expect(shown.contains("  libbusy.so"), "\(shown)")
    }
}
