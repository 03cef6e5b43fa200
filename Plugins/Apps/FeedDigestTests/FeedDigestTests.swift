import BackgroundTasks
import BackgroundTasksTesting
import Testing

@testable import FeedDigest

/// The feed app's handlers; each test has its own folder.
@Suite(.timeLimit(.minutes(1))) struct FeedDigestTests {
    private static let permitted: [String: TestApp.Kind] = [
        Chain.refresh: .appRefresh, Chain.importing: .processing, Chain.compaction: .processing,
    ]
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static let rss = Data(
        """
        <rss version="2.0"><channel><title>News</title>
          <item><title>One &amp; two</title><guid>1</guid><link>http://localhost/1</link>
            <pubDate>Mon, 02 Jan 2006 15:04:05 +0100</pubDate></item>
          <item><title>Three</title><guid>3</guid></item>
        </channel></rss>
        """.utf8)
    private static let atom = Data(
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title>
          <entry><id>n1</id><title>First</title><author><name>A</name></author>
            <link rel="self" href="http://localhost/self"/><link href="http://localhost/n1"/>
            <published>2026-01-02T03:04:05Z</published></entry>
        </feed>
        """.utf8)

    @Test func `RSS and Atom are read, with dates in both forms`() throws {
        let rss = try FeedReader.read(Self.rss, now: Self.now)
        #expect(rss.map(\.title) == ["One & two", "Three"])
        #expect(rss.first?.published == Date(timeIntervalSince1970: 1_136_210_645))
        let atom = try FeedReader.read(Self.atom, now: Self.now)
        #expect(atom.map(\.link) == ["http://localhost/n1"])
        #expect(atom.first?.published == Date(timeIntervalSince1970: 1_767_323_045))
        #expect(throws: FeedProblem.self) { try FeedReader.read(Data("<html/>".utf8), now: Self.now) }
        #expect(throws: FeedProblem.self) { try FeedReader.read(Data("<rss>".utf8), now: Self.now) }
    }

    @Test func `only new entries are added, and a line that a crash cut off is mended`() throws {
        try inFolder { folder in
            let digest = Digest(file: folder.appendingPathComponent("digest.jsonl"))
            let entries = try FeedReader.read(Self.rss, now: Self.now)
            #expect(try digest.add(entries) == 2)
            #expect(try digest.add(entries) == 0)
            let whole = try Data(contentsOf: digest.file)
            try whole.dropLast(10).write(to: digest.file)
            #expect(try digest.entries().count == 1)
            #expect(try digest.add(entries) == 1)
            #expect(try Data(contentsOf: digest.file) == whole)
        }
    }

    @Test func `compaction keeps the newest entries of each feed`() throws {
        try inFolder { folder in
            let digest = Digest(file: folder.appendingPathComponent("digest.jsonl"))
            let entries = (0..<10).map { number in
                DigestEntry(
                    feed: number < 4 ? "small" : "large", id: "\(number)", title: "", link: "",
                    published: nil,
                    found: Self.now - Double(100 - number))
            }
            #expect(try digest.add(entries) == 10)
            var compaction = Compaction(digest: digest, entriesPerFeed: 5, age: 99)
            try compaction.run(now: Self.now)
            #expect(try digest.entries().map(\.id) == ["1", "2", "3", "5", "6", "7", "8", "9"])
            compaction.age = 0
            try compaction.run(now: Self.now)
            #expect(try digest.entries().isEmpty)
        }
    }

    @Test func `a refresh reads every feed that can be read, and asks for the next one`() async throws {
        try await withTestApp(permitting: Self.permitted) { app in
            try await inWorkingFolder { folder in
                let feeds = folder.appendingPathComponent("feeds")
                try FileManager.default.createDirectory(at: feeds, withIntermediateDirectories: true)
                try Self.rss.write(to: feeds.appendingPathComponent("news.rss"))
                try Data("broken".utf8).write(to: feeds.appendingPathComponent("broken.xml"))
                try Self.atom.write(to: folder.appendingPathComponent("notes.atom"))
                try Data("\(folder.appendingPathComponent("notes.atom").absoluteString)\n".utf8)
                    .write(to: folder.appendingPathComponent("subscriptions.txt"))
                await MainActor.run { FeedDigestApp.main() }

                let launch = try app.launch(Chain.refresh)
                #expect(await launch.ended() == .completed(success: true))
                #expect(try Digest.standard.entries().count == 3)
                #expect(app.pending.map(\.identifier) == [Chain.refresh])
                #expect(app.advice == [])
                let skipped = try #require(app.log.first { $0.contains("is skipped") })
                #expect(skipped.contains("<mask.hash: '") && !skipped.contains("broken.xml"), "\(skipped)")
            }
        }
    }

    @Test func `an import reads the payload's directory, and stops when it is cancelled`() async throws {
        try await withTestApp(permitting: Self.permitted) { app in
            try await inWorkingFolder { folder in
                try Self.rss.write(to: folder.appendingPathComponent("news.rss"))
                await MainActor.run { FeedDigestApp.main() }
                let payload = try JSONEncoder().encode(["directory": folder.path])
                let launch = try app.launch(Chain.importing, payload: payload)
                #expect(await launch.ended() == .completed(success: true))
                #expect(try Digest.standard.entries().count == 2)
                let without = try app.launch(Chain.importing)
                #expect(await without.ended() == .completed(success: false))

                // Cancels the Swift task, as expiration does.
                let stopped = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await FolderImport(payload: payload).run()
                }
                await #expect(throws: CancellationError.self) { try await stopped.value }
            }
        }
    }
}

private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}

/// Runs a test in a new working directory, like that of a launch.
///
/// Tests with an app run one by one, so they may change it.
private func inWorkingFolder(_ body: (URL) async throws -> Void) async throws {
    let before = FileManager.default.currentDirectoryPath
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    #expect(FileManager.default.changeCurrentDirectoryPath(folder.path))
    defer {
        _ = FileManager.default.changeCurrentDirectoryPath(before)
        try? FileManager.default.removeItem(at: folder)
    }
    try await body(folder)
}
