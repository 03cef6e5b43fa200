import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

/// A watch in a new directory; it collects the events.
private final class Watching {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let watch: PathWatch
    private let events: AsyncStream<PathWatch.Event>
    private var iterator: AsyncStream<PathWatch.Event>.Iterator

    init(_ names: String...) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (events, continuation) = AsyncStream.makeStream(of: PathWatch.Event.self)
        self.events = events
        iterator = events.makeAsyncIterator()
        watch = try PathWatch { continuation.yield($0) }
        watch.watch(Set(names.map { "\(folder)/\($0)" }))
    }

    deinit {
        watch.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func write(_ name: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }

    func make(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }

    /// The names that the next event reports, without the folder.
    func next() async -> [String] {
        switch await iterator.next() {
        case .changed(let paths): paths.map { String($0.dropFirst(folder.count + 1)) }.sorted()
        case .unwatchable(let path, let error): ["\(path): \(error)"]
        case nil: []
        }
    }

    /// Waits until the watches exist: writes `probe`, which must be watched, until a change of it is
    /// reported.
    func settle(_ probe: String) async throws {
        let folder = folder
        let writing = Task.detached {
            while !Task.isCancelled {
                try Data("\(UInt64.random(in: 0 ... .max))".utf8).write(
                    to: URL(fileURLWithPath: "\(folder)/\(probe)"))
                try await Task.sleep(for: .milliseconds(300))
            }
        }
        let first = await next()
        // The files that the test made before may be reported with it.
        #expect(first.contains(probe), "\(first)")
        writing.cancel()
        _ = await writing.result
        // The loop may have written once more after that event. With this write, there is one event more in
        // either case, and the test begins without one.
        try write("\(probe)", "last")
        #expect(await next() == [probe])
    }
}

@Suite(.system) struct PathWatchTests {
    @Test(.timeLimit(.minutes(1)))
    func `a file that is written, replaced, removed and made again is told each time`() async throws {
        let watching = try Watching("probe", "file")
        try await watching.settle("probe")
        try watching.write("file")
        #expect(await watching.next() == ["file"])
        try watching.write("other")
        try watching.write("file", "y")
        #expect(await watching.next() == ["file"])
        #expect(rename("\(watching.folder)/other", "\(watching.folder)/file") == 0)
        #expect(await watching.next() == ["file"])
        try FileManager.default.removeItem(atPath: "\(watching.folder)/file")
        #expect(await watching.next() == ["file"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `what changes beside a watched file is not told, nor is a reader`() async throws {
        let watching = try Watching("probe", "file")
        try watching.write("file")
        try await watching.settle("probe")
        try watching.write("other")
        _ = try Data(contentsOf: URL(fileURLWithPath: "\(watching.folder)/file"))
        try watching.write("probe", "end")
        #expect(await watching.next() == ["probe"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a file whose parents are missing is told when they and it come`() async throws {
        let watching = try Watching("probe", "a/b/c/file")
        try await watching.settle("probe")
        try watching.make("a/b/c")
        try watching.write("a/b/c/file")
        #expect(await watching.next() == ["a/b/c/file"])
        try FileManager.default.removeItem(atPath: "\(watching.folder)/a")
        #expect(await watching.next() == ["a/b/c/file"])
        try watching.make("a/b/c")
        try watching.write("a/b/c/file")
        #expect(await watching.next() == ["a/b/c/file"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a directory changes with what is directly in it; many changes at once are told once`() async throws
    {
        let watching = try Watching("probe", "inbox")
        try watching.make("inbox/deep")
        try await watching.settle("probe")
        let begin = ContinuousClock.now
        for number in 0..<200 { try watching.write("inbox/\(number)") }
        // On a busy machine, the test can be paused for longer than the quiet period; the rest is then told
        // apart.
        let isOneBurst = begin.duration(to: .now) < PathWatch.quietPeriod
        #expect(await watching.next() == ["inbox"])
        try watching.write("inbox/deep/file")
        try watching.write("probe", "end")
        var told = await watching.next()
        while !isOneBurst, told == ["inbox"] { told = await watching.next() }
        #expect(isOneBurst ? told == ["probe"] : told.contains("probe"))
    }

    @Test(.timeLimit(.minutes(1))) func `paths that are added later are watched, others no more`()
        async throws
    {
        let watching = try Watching("probe", "old")
        try await watching.settle("probe")
        watching.watch.watch(["\(watching.folder)/probe", "\(watching.folder)/new"])
        try await watching.settle("probe")
        try watching.write("old")
        try watching.write("new")
        #expect(await watching.next() == ["new"])
    }
}
