import Foundation
import TaskHostTestSupport
import Testing

/// Row 15 of the faults of isolation, each part with a real host.
@Suite(.system) struct RobustnessTests {
    private static func counting() throws -> HostProcess {
        let host = try HostProcess()
        try host.start()
        try EndToEndTests.install(in: host)
        try host.wait("the manifest is read") { host.run("plugins").output.contains("com.example.counting") }
        return host
    }

    @Test func `a title that no launch could get is refused when it is submitted`() throws {
        let host = try Self.counting()
        let control = ControlSocket(path: host.socket.path)
        for title in ["a\u{0}b", String(repeating: "x", count: 70_000)] {
            for name in ["title", "subtitle"] {
                let body = ["identifier": "com.example.counting.count", name: title]
                let answer = try control.post("/requests", body)
                #expect(answer.status >= 400 && answer.text.contains("its \(name) "), "\(answer)")
            }
        }
        #expect(try host.launches().isEmpty)
        #expect(host.stop() == 0)
    }

    @Test func `the next host warns of a log that was lost with the host`() throws {
        let host = try Self.counting()
        host.run("submit", "com.example.counting.count", "--earliest", "2100-01-01")
        host.kill()
        try FileManager.default.removeItem(at: host.state.appendingPathComponent("store.sqlite-wal"))
        try host.start()
        #expect(host.logTail(20).contains("store.sqlite-wal is gone"))
        #expect(host.stop() == 0)
    }

    @Test func `a store that was removed acknowledges nothing`() throws {
        let host = try Self.counting()
        try FileManager.default.removeItem(at: host.state.appendingPathComponent("store.sqlite"))
        let answer = host.run("submit", "com.example.counting.count")
        #expect(answer.status != 0 && answer.errors.contains("removed or replaced"), "\(answer)")
        host.kill()
    }

    @Test func `a library over 512 MiB is refused before it is read`() throws {
        let host = try Self.counting()
        let library = host.plugins.appendingPathComponent("libcounting.so")
        let large = host.plugins.appendingPathComponent("large")
        try FileManager.default.copyItem(at: library, to: large)
        try FileHandle(forWritingTo: large).truncate(atOffset: 513 << 20)
        #expect(rename(large.path, library.path) == 0)
        try host.wait("the reason is shown") { host.run("plugins").output.contains("the limit is 512 MiB") }
        let status = try String(contentsOfFile: "/proc/\(host.processIdentifier)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        let kibibytes = peak.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0
        #expect(kibibytes > 0 && kibibytes < 400 << 10, "\(peak)")
        #expect(host.stop() == 0)
    }

    @Test func `newlines without end do not grow the log of the host without end`() throws {
        let host = try Self.counting()
        try host.install(
            """
            #include <bgtask.h>
            #include <string.h>
            #include <unistd.h>
            static char lines[1 << 20];
            static void run(bgtask_task *task, const bgtask_host *host) {
                memset(lines, '\\n', sizeof lines);
                for (int i = 0; i < 32; i++)
                    if (write(1, lines, sizeof lines) < 0 || write(2, lines, sizeof lines) < 0) break;
                lines[60000] = 0;
                for (int i = 0; i < 100; i++) host->log(task, BGTASK_LOG_INFO, lines);
                host->complete(task, 1, "written");
            }
            static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
            const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
            """, library: "liblines.so",
            manifest: EndToEndTests.manifest.replacingOccurrences(of: "counting", with: "lines"),
            named: "lines")
        try host.wait("the manifest is read") { host.run("plugins").output.contains("com.example.lines") }
        #expect(host.run("launch", "com.example.lines.count", "--wait").status == 0)
        let size = try FileManager.default.attributesOfItem(atPath: host.logFile.path)[.size] as? Int ?? 0
        // It wrote 70 MB; the first 1 MiB of each stream counts, and an empty line takes more in the log.
        #expect(size < 16 << 20, "\(size)")
        #expect(host.stop() == 0)
    }

    @Test func `the record names the library that a launch ran, while the file is replaced`() throws {
        let host = try Self.counting()
        var hashes: [String: Set<String>] = [:]
        for round in 0..<12 {
            let version = "version \(round % 3)"
            let source = EndToEndTests.counting.replacingOccurrences(
                of: "\"counted\"", with: "\"\(version)\"")
            let file = host.directory.appendingPathComponent("version.c")
            try source.write(to: file, atomically: true, encoding: .utf8)
            let built = host.directory.appendingPathComponent("version.so")
            try HostProcess.compile(file, into: built)
            #expect(rename(built.path, host.plugins.appendingPathComponent("libcounting.so").path) == 0)
            // The host may notice the file before, during or after the launch.
            #expect(host.run("launch", "com.example.counting.count", "--wait").status == 0)
        }
        for row in try host.launches() {
            let hash = try #require(row["libraryHash"] as? String)
            hashes[hash, default: []].insert(try #require(row["message"] as? String))
        }
        #expect(hashes.values.allSatisfy { $0.count == 1 }, "\(hashes)")
        #expect(hashes.count > 1)
        #expect(host.stop() == 0)
    }
}
