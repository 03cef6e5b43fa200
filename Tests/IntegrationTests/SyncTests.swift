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
@Suite(
    .alone, .serialized,
    .enabled(if: Strace.isAvailable, "strace is missing or may not trace here: no syncs are counted"))
struct SyncTests {
    private static let source = """
        #include <bgtask.h>
        static void run(bgtask_task *task, const bgtask_host *host) { host->complete(task, 1, "done"); }
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
        """

    /// Starts a host with many slots.
    private static func makeHost() throws -> HostProcess {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_CONTINUED_SLOTS"] = "64"
        try host.install(source, library: "libburst.so", manifest: manifest, named: "burst")
        try host.start()
        return host
    }

    /// Submits jobs from a number of clients at once, and waits until the host has stored all their ends.
    private static func run(_ jobs: Int, clients: Int, on host: HostProcess, from first: Int = 0) async throws
    {
        let socket = host.socket.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    let client = ControlClient(socketPath: socket)
                    for job in stride(from: number, to: jobs, by: clients) {
                        let identifier = try TaskIdentifier("com.example.burst.job.n\(first + job)")
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
        let trace = host.directory.appendingPathComponent("trace")
        let strace = Process()
        strace.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        strace.arguments = [
            "strace", "-f", "-ttt", "-o", trace.path, "-e", "trace=fdatasync,fsync,sync_file_range,msync",
            "-p",
            "\(host.processIdentifier)",
        ]
        let messages = Pipe()
        strace.standardError = messages
        try strace.run()
        // strace says when it is attached; calls before that are not counted.
        _ = messages.fileHandleForReading.availableData
        let start = Date().timeIntervalSince1970
        try await work()
        let end = Date().timeIntervalSince1970
        // strace ends with the host, and then its file is complete.
        #expect(host.stop() == 0)
        strace.waitUntilExit()
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        return lines.count { line in
            guard let time = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
                return false
            }
            return line.contains("sync") && !line.contains("resumed>") && (start...end).contains(time)
        }
    }

    @Test func `a job alone costs two or three syncs`() async throws {
        let host = try Self.makeHost()
        try await Self.run(1, clients: 1, on: host)
        let syncs = try await Self.countSyncs(of: host) {
            for job in 1...10 { try await Self.run(1, clients: 1, on: host, from: job) }
        }
        // A job stores its request, and the launch's beginning and end. The first two can share a commit.
        #expect((20...32).contains(syncs), "\(syncs) syncs for 10 jobs")
    }

    @Test func `at load, jobs share their syncs: fewer than one for five jobs`() async throws {
        let host = try Self.makeHost()
        try await Self.run(1, clients: 1, on: host)
        let syncs = try await Self.countSyncs(of: host) {
            try await Self.run(600, clients: 100, on: host, from: 1)
        }
        #expect(syncs > 6, "\(syncs) syncs for 600 jobs: each client waits for the sync of its submission")
        #expect(syncs < 120, "\(syncs) syncs for 600 jobs")
    }
}

private enum Strace {
    static let isAvailable = Command.run("strace", "-qq", "-o", "/dev/null", "true").status == 0
}
