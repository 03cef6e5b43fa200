import Foundation
import LinuxSystem
import LogFiles
import Synchronization
import TaskModel
import Testing

/// The stored log, with real files.
@Suite struct LogFilesTests {
    private let folder: TestFolder
    private let now = WallTime(milliseconds: 1_760_000_000_000)

    init() throws { folder = try TestFolder() }

    private var directory: LogDirectory { LogDirectory(folder.path + "/log") }

    private func line(
        _ message: String, launch: Int64? = nil, source: LogLine.Source = .standardOutput, after: Int = 0
    ) -> LogLine {
        LogLine(
            at: now + .seconds(after), level: .info, source: source,
            launch: launch.map(LaunchID.init(rawValue:)), message: message)
    }

    private func store(_ lines: [LogLine], _ limits: LogWriter.Limits = LogWriter.Limits()) async {
        let writer = LogWriter()
        for line in lines { writer.append(line) }
        writer.finish()
        let time = now
        await writer.run(in: directory, limits: limits, at: { time }, onProblem: { Issue.record("\($0)") })
    }

    private func messages(_ change: (inout LogQuery) -> Void = { _ in }) -> [String] {
        var query = LogQuery(limit: 10_000)
        change(&query)
        return directory.lines(query).map(\.message)
    }

    @Test(arguments: [
        "", "plain", "tab\tand\nbreak", "back\\slash \\n", "é 🙂", String(repeating: "x", count: 9000),
    ])
    func `a line is read back as it was written`(message: String) async throws {
        var full = line(message, launch: 7)
        full.identifier = try TaskIdentifier("com.example.a.b")
        (full.subsystem, full.category) = ("sub\tsystem", "")
        full.level = .error
        await store([full])
        full.category = nil
        #expect(directory.lines(LogQuery(limit: 10)) == [full])
    }

    @Test func `lines of several hosts follow each other, and a query chooses among them`() async throws {
        await store([line("a", launch: 1), line("b", launch: 2, after: 60)])
        await store([line("c", launch: 1, after: 120), line("d", after: 180)])
        #expect(messages() == ["a", "b", "c", "d"])
        #expect(messages { $0.launch = LaunchID(rawValue: 1) } == ["a", "c"])
        #expect(messages { $0.limit = 2 } == ["c", "d"])
        let middle = now + .seconds(90)
        #expect(messages { $0.since = middle } == ["c", "d"])
        #expect(messages { $0.until = middle } == ["a", "b"])
    }

    @Test func `a line that a failure cut in two is left out`() async throws {
        await store([line("whole"), line("cut")])
        let file = try #require(try DirectoryTree.names(in: directory.path).first)
        let path = "\(directory.path)/\(file)"
        let bytes = try FileContents.read(path)
        try DirectoryTree.remove(path)
        try FileContents.create(path, Array(bytes.dropLast(6)), mode: 0o600)
        await store([line("next")])
        #expect(messages() == ["whole", "next"])
    }

    @Test func `old files make room, and the newest lines stay`() async throws {
        var limits = LogWriter.Limits()
        limits.size = 1 << 20
        let text = String(repeating: "y", count: 1000)
        await store((0..<3000).map { line("\($0) \(text)") }, limits)
        let sizes = try DirectoryTree.names(in: directory.path).map {
            try FileIdentity(of: "\(directory.path)/\($0)").size
        }
        #expect(sizes.reduce(0, +) <= 1 << 20 && sizes.count > 10)
        let kept = messages()
        #expect(kept.last?.hasPrefix("2999 ") == true)
        #expect(kept.count > 800)
    }

    @Test func `files that are too old are removed when the next one begins`() async throws {
        await store([line("old")])
        let file = try #require(try DirectoryTree.names(in: directory.path).first)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: "\(directory.path)/\(file)")
        await store([line("new")])
        #expect(messages() == ["new"])
    }

    @Test func `a launch that prints too much loses its own lines alone, and the log says so`() async throws {
        var limits = LogWriter.Limits()
        limits.perLaunch = 4096
        let flood = (0..<100).map { line("flood \($0) " + String(repeating: "z", count: 100), launch: 1) }
        await store(
            flood + [
                line("other", launch: 2), line("succeeded", launch: 1, source: .host),
                line("late", launch: 1),
            ],
            limits)
        let kept = messages()
        #expect(kept.contains("other") && kept.contains("succeeded"))
        #expect(kept.count { $0.hasPrefix("flood") } < 40)
        #expect(kept.contains { $0.contains("of this launch were not stored") })
        #expect(!kept.contains("late"))
    }

    @Test func `a directory that can't be made is told once, and flush says that nothing is stored`()
        async throws
    {
        try FileContents.create(folder.path + "/log", [], mode: 0o600)
        let writer = LogWriter()
        #expect(await writer.flush() == false)
        for number in 0..<3 { writer.append(line("\(number)")) }
        writer.finish()
        let told = Mutex<[String]>([])
        let time = now
        await writer.run(in: directory, limits: LogWriter.Limits(), at: { time }) { problem in
            told.withLock { $0.append(problem) }
        }
        #expect(told.withLock { $0.count } == 1)
    }
}

/// A folder that is removed together with this object.
private final class TestFolder: Sendable {
    let path = "/tmp/bgl-\(UUID().uuidString.prefix(8))"

    init() throws { try DirectoryTree.make(path) }

    deinit { try? DirectoryTree.remove(path) }
}
