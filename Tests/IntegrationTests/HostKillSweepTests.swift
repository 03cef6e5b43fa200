import Foundation
import TaskHostTestSupport
import Testing

/// SIGKILL at the n-th write, sync or rename of a whole host, and a check of everything that it left.
///
/// A run has 20 points. `BGTASK_KILL_POINTS=200` makes a longer sweep.
@Suite(.system) struct HostKillSweepTests {
    /// One system call of the host, or of a process that it started.
    struct Point: CustomTestStringConvertible {
        let call: String
        let number: Int
        var testDescription: String { "\(call) \(number)" }
    }

    private static let calls = ["pwrite64", "fdatasync", "write", "rename,renameat,renameat2,link,unlink"]

    static let points: [Point] = {
        let wanted = ProcessInfo.processInfo.environment["BGTASK_KILL_POINTS"].flatMap { Int($0) } ?? 20
        // Each thread has its own count. The first calls are the start, the later ones submissions and ends.
        let steps = max(1, wanted / calls.count)
        return calls.flatMap { call in
            (0..<steps).map { Point(call: call, number: 1 + $0 * (wanted > 20 ? 1 : 1 + $0)) }
        }
    }()

    /// Why nothing can be killed here; `nil` if it can.
    static let obstacle: String? = {
        let answer = Command.run("strace", "-D", "-f", "-qq", "-o", "/dev/null", "true")
        return answer.status == 0 ? nil : "strace is missing or may not trace here: nothing is killed"
    }()

    private static let tasks = ["one", "two", "three"].map { "com.example.effects.\($0)" }

    /// Writes one line for each effect, with its fencing token, and notes if another attempt has not ended.
    private static let source = """
        #include <bgtask.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/file.h>
        #include <unistd.h>

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            char text[1024];
            snprintf(text, sizeof text, "%s/lock.%llu", launch->data_directory,
                     (unsigned long long)launch->request_id);
            int lock = open(text, O_RDWR | O_CREAT, 0600);
            int alone = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;
            snprintf(text, sizeof text, "%s/effects", launch->data_directory);
            int effects = open(text, O_WRONLY | O_APPEND | O_CREAT, 0600);
            snprintf(text, sizeof text, "R%llu %llu %s\\n", (unsigned long long)launch->request_id,
                     (unsigned long long)launch->fencing_token, alone ? "alone" : "overlap");
            if (write(effects, text, strlen(text)) < 0 || fsync(effects) != 0) return;
            host->checkpoint(task, "done", 4);
            usleep(20000);
            host->complete(task, 1, "effect");
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """

    private static let manifest =
        "apiVersion: bgtask/v1\nbundle: com.example.effects\nlibrary: libeffects.so\nmodes: [processing]\ntasks:\n"
        + tasks.map { "  - identifier: \($0)\n    kind: processing\n" }.joined()

    @Test(.enabled(if: obstacle == nil, "strace may not trace here: nothing is killed"), arguments: points)
    func `a host killed at any write, sync or rename keeps what it acknowledged`(_ point: Point) throws {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_BACK_OFF_BASE"] = "100ms"
        try host.install(
            Self.source, library: "libeffects.so", manifest: Self.manifest, named: "effects")
        // The tracer is a grandchild, so that the host is the process that the test started. A name with a
        // question mark may be missing on this architecture.
        let names = point.call.split(separator: ",").map { "?\($0)" }.joined(separator: ",")
        host.prefix = [
            "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(names)",
            "--inject=\(names):signal=SIGKILL:when=\(point.number)",
        ]
        let first = try host.launch()
        try host.wait("it answers or is dead") {
            !first.isRunning || FileManager.default.fileExists(atPath: host.socket.path)
        }
        var acknowledged: [String: String] = [:]
        for task in Self.tasks where first.isRunning {
            acknowledged[task] = Self.submit(task, to: host)
        }
        try host.wait("it is dead, or all has ended") {
            let rows = (try? host.launches()) ?? []
            return !first.isRunning || rows.count { $0["outcome"] as? String != nil } >= acknowledged.count
        }
        // Not every point kills the host; the signal may have killed a process that the host started.
        if point.number == 1, point.call != "write" {
            #expect(!first.isRunning, "nothing was killed: the sweep proves nothing")
        }
        host.kill()
        try host.wait("the launcher has emptied its groups and gone") {
            !host.leftovers().contains { $0.contains("bgtask-runner") }
        }

        host.prefix = []
        try host.start()
        // Whoever got no answer submits again with the same key.
        for task in Self.tasks {
            let request = try #require(Self.submit(task, to: host), "\(task)")
            if let before = acknowledged[task] { #expect(request == before, "\(task)") }
            acknowledged[task] = request
        }
        try host.wait("each request has succeeded") {
            try Self.tasks.allSatisfy { task in
                try host.launches(of: task).contains { $0["outcome"] as? String == "succeeded" }
            }
        }
        try Self.check(acknowledged, of: host)
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    /// Submits a task with a key that never changes; returns the request if the host acknowledged it.
    private static func submit(_ task: String, to host: HostProcess) -> String? {
        let answer = host.run("submit", task, "--key", "k", "--json")
        guard answer.status == 0,
            let object = try? JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        else { return nil }
        return object["request"] as? String
    }

    /// The rules of a history: see Documentation/Reliability.md.
    private static func check(_ acknowledged: [String: String], of host: HostProcess) throws {
        let effects = try effects(of: host)
        for (task, request) in acknowledged {
            let launches = try host.launches(of: task)
            #expect(Set(launches.compactMap { $0["request"] as? String }) == [request], "\(launches)")
            let mine = effects.filter { $0.first == request }
            #expect(!mine.isEmpty, "\(request) has succeeded without an effect")
            #expect(mine.count <= launches.count, "\(mine) of \(launches)")
            let tokens = mine.compactMap { Int64($0[1]) }
            #expect(tokens == tokens.sorted() && Set(tokens).count == tokens.count, "\(mine)")
            let known = Set(launches.compactMap { ($0["token"] as? NSNumber)?.int64Value })
            #expect(known.isSuperset(of: tokens), "\(mine) of \(launches)")
            let succeeded = launches.filter { $0["outcome"] as? String == "succeeded" }
            #expect(succeeded.count == 1, "\(launches)")
        }
        #expect(!effects.contains { $0.last == "overlap" }, "\(effects)")
    }

    private static func effects(of host: HostProcess) throws -> [[String]] {
        let files =
            FileManager.default.enumerator(atPath: host.state.path)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix("/effects") }.flatMap { file in
            try String(contentsOf: host.state.appendingPathComponent(file), encoding: .utf8)
                .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        }
    }
}
