import ControlClient
import ControlWire
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// How many syncs of the disk a job costs, from its submission to its end, in a real host.
///
/// Each commit of the store is one fdatasync, so a commit that is added anywhere in the host, and a sync that
/// is lost, both change these numbers.
@Suite(.alone, .serialized) struct SyncTests {
    /// A library that counts the syncs of the host into which it is loaded: one line with the time for each.
    ///
    /// It also makes each sync take `SYNC_MILLISECONDS` longer, as on a slow disk. Jobs share a sync only if
    /// they arrive while another one is under way, so the count would depend on the disk of the machine.
    private static let counter = """
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        static int trace = -1, milliseconds;
        __attribute__((constructor)) static void start(void) {
            trace = open(getenv("SYNC_TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            milliseconds = atoi(getenv("SYNC_MILLISECONDS"));
            unsetenv("LD_PRELOAD");
        }
        static int count(long call, int file) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            dprintf(trace, "%lld.%09ld\\n", (long long)now.tv_sec, now.tv_nsec);
            int result = (int)syscall(call, file);
            nanosleep(&(struct timespec){0, milliseconds * 1000000L}, NULL);
            return result;
        }
        int fdatasync(int file) { return count(SYS_fdatasync, file); }
        int fsync(int file) { return count(SYS_fsync, file); }
        """

    private static let source = """
        #include <bgtask.h>
        #include <string.h>
        #include <time.h>
        static void run(bgtask_task *task, const bgtask_host *host) {
            struct timespec start, now;
            clock_gettime(CLOCK_MONOTONIC, &start);
            // The host stores progress once a second.
            if (strstr(host->launch(task)->identifier, ".reports."))
                for (long count = 0; clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec - start.tv_sec < 4; count++)
                    host->progress(task, count, 1L << 60, "");
            host->complete(task, 1, "done");
        }
        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    private static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.burst
        library: libburst.so
        modes: []
        tasks:
          - {identifier: com.example.burst.job.*, kind: continuedProcessing}
          - {identifier: com.example.burst.reports.*, kind: continuedProcessing}
        """

    /// Starts a host with many slots.
    ///
    /// - Parameter milliseconds: How much longer each sync takes than on this machine's disk.
    private static func makeHost(slowerBy milliseconds: Int = 0) throws -> HostProcess {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_CONTINUED_SLOTS"] = "64"
        try host.install(source, library: "libburst.so", manifest: manifest, named: "burst")
        let source = host.directory.appendingPathComponent("counter.c")
        try Data(counter.utf8).write(to: source)
        let library = host.directory.appendingPathComponent("counter.so").path
        let answer = Command.run("cc", "-shared", "-fPIC", "-Werror", "-o", library, source.path)
        #expect(answer.status == 0, "\(answer.output)")
        host.environment["SYNC_TRACE"] = trace(of: host).path
        host.environment["SYNC_MILLISECONDS"] = "\(milliseconds)"
        host.environment["LD_PRELOAD"] = library
        try host.start()
        return host
    }

    /// Submits jobs from a number of clients at once, and waits until the host has stored all their ends.
    private static func run(
        _ jobs: Int, clients: Int, on host: HostProcess, from first: Int = 0, named name: String = "job"
    ) async throws {
        let socket = host.socket.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    let client = ControlClient(socketPath: socket)
                    for job in stride(from: number, to: jobs, by: clients) {
                        let identifier = try TaskIdentifier("com.example.burst.\(name).n\(first + job)")
                        _ = try await client.submit(SubmissionMessage(identifier: identifier))
                    }
                }
            }
            try await group.waitForAll()
        }
        let client = ControlClient(socketPath: socket)
        while try await client.launches(limit: first + jobs).count(where: { $0.outcome == .succeeded })
            < first + jobs
        {
            await Task.yield()
        }
    }

    /// Counts a host's calls of fdatasync and similar functions while `work` runs, and then stops the host.
    private static func countSyncs(of host: HostProcess, while work: () async throws -> Void) async throws
        -> Int
    {
        let start = Date().timeIntervalSince1970
        try await work()
        let end = Date().timeIntervalSince1970
        #expect(host.stop() == 0)
        return try String(contentsOf: trace(of: host), encoding: .utf8).split(separator: "\n").count { line in
            Double(line).map { (start...end).contains($0) } == true
        }
    }

    private static func trace(of host: HostProcess) -> URL { host.directory.appendingPathComponent("trace") }

    @Test func `a job alone costs two syncs: its beginning and its end`() async throws {
        let host = try Self.makeHost()
        try await Self.run(1, clients: 1, on: host)
        let syncs = try await Self.countSyncs(of: host) {
            for job in 1...10 { try await Self.run(1, clients: 1, on: host, from: job) }
        }
        // The request and the launch's beginning share a commit. On a busy machine, a job can take three.
        #expect((20...25).contains(syncs), "\(syncs) syncs for 10 jobs")
    }

    @Test func `a launch that only reports its progress costs no sync`() async throws {
        let host = try Self.makeHost()
        try await Self.run(1, clients: 1, on: host)
        let syncs = try await Self.countSyncs(of: host) {
            try await Self.run(1, clients: 1, on: host, from: 1, named: "reports")
        }
        #expect((2...3).contains(syncs), "\(syncs) syncs for a job of 4 s")
    }

    @Test func `at load, jobs share their syncs: fewer than 0.2 a job`() async throws {
        let host = try Self.makeHost(slowerBy: 50)
        try await Self.run(1, clients: 1, on: host)
        let syncs = try await Self.countSyncs(of: host) {
            try await Self.run(600, clients: 100, on: host, from: 1)
        }
        #expect(syncs > 6, "\(syncs) syncs for 600 jobs: each client waits for the sync of its submission")
        #expect(syncs < 120, "\(syncs) syncs for 600 jobs")
    }
}
