import BackgroundTasks
import BackgroundTasksTesting
import Testing

@testable import DirectoryExport

/// Exports of a small tree; `tar` reads the archives.
@Suite(.timeLimit(.minutes(1))) struct DirectoryExportTests {
    private static let identifier = "org.bgtask.directoryexport.export.test"
    private static let permitted: [String: TestApp.Kind] = [
        DirectoryExportPlugin.identifier: .continuedProcessing
    ]

    @Test func `an export is one archive that tar reads, with progress by bytes and titles`() async throws {
        let tree = try Tree()
        try await withTestApp(permitting: Self.permitted) { app in
            app.start(DirectoryExportPlugin.self)
            let launch = try app.launch(Self.identifier, payload: tree.payload)
            #expect(await launch.ended() == .completed(success: true))
            let progress = try #require(launch.progress)
            #expect(progress.completed == progress.total)
            #expect(launch.titles?.subtitle == "4 of 4 files")
            let extracted = try tree.extract()
            #expect(try tree.contents(of: extracted) == tree.contents(of: tree.source))
            #expect(
                try FileManager.default.destinationOfSymbolicLink(
                    atPath: extracted.appendingPathComponent("link").path) == "a.txt")
            #expect(try tree.destinationNames() == ["photos.tar"])
        }
    }

    @Test func `one that the user cancels leaves nothing`() async throws {
        let tree = try Tree()
        try await withTestApp(permitting: Self.permitted) { app in
            app.start(DirectoryExportPlugin.self)
            try tree.addFileThatTakesLong()
            let launch = try app.launch(Self.identifier, payload: tree.payload)
            while launch.titles?.subtitle != "5 of 5 files" { await Task.yield() }
            launch.expire(.cancelledByUser)
            #expect(await launch.ended() == .completed(success: false))
            #expect(try tree.destinationNames() == [])
        }
    }

    @Test func `one that is stopped goes on after what it has, to the same archive`() throws {
        let tree = try Tree()
        let export = try Export(of: tree.source, into: tree.destination)
        #expect(
            try export.run(from: nil, progress: Progress(totalUnitCount: 0), stop: StopFlag()) { _ in }
                == .finished(files: 4))
        let whole = try Data(contentsOf: export.archive)
        try FileManager.default.removeItem(at: export.archive)

        for stopAt in 1...4 {
            let stop = StopFlag()
            var place: Export.Place?
            let ending = try export.run(from: nil, progress: Progress(totalUnitCount: 0), stop: stop) {
                event in
                switch event {
                case .began(stopAt, _): stop.raise()
                case .began: break
                case .reached(let reached): place = reached
                }
            }
            #expect(ending == .stopped)
            #expect(try tree.destinationNames() == [".photos.tar.unfinished"])
            let progress = Progress(totalUnitCount: 0)
            var begun: [Int] = []
            let second = try export.run(from: place, progress: progress, stop: StopFlag()) {
                if case .began(let number, _) = $0 { begun.append(number) }
            }
            #expect(second == .finished(files: 4) && begun == Array(stopAt...4), "\(begun)")
            #expect(progress.fractionCompleted == 1)
            #expect(try Data(contentsOf: export.archive) == whole, "stopped at \(stopAt)")
            try FileManager.default.removeItem(at: export.archive)
        }
    }

    @Test func `what is gone is begun anew, and a request without directories fails`() async throws {
        let tree = try Tree()
        let export = try Export(of: tree.source, into: tree.destination)
        let place = Export.Place(path: "a.txt", length: 4096)
        #expect(
            try export.run(from: place, progress: Progress(totalUnitCount: 0), stop: StopFlag()) { _ in }
                == .finished(files: 4))
        #expect(try tree.contents(of: tree.extract()) == tree.contents(of: tree.source))
        try await withTestApp(permitting: Self.permitted) { app in
            app.start(DirectoryExportPlugin.self)
            let launch = try app.launch(Self.identifier)
            #expect(await launch.ended() == .completed(success: false))
            // The prefix filters the log, because other tests log too.
            #expect(app.log.contains { $0.hasPrefix("[org.bgtask.directoryexport:export]") })
        }
    }
}

/// A tree to export, and a destination.
private final class Tree {
    let root = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    var source: URL { root.appendingPathComponent("photos", isDirectory: true) }
    var destination: URL { root.appendingPathComponent("out", isDirectory: true) }
    var payload: Data {
        get throws {
            try JSONEncoder().encode(["directory": source.path, "destination": destination.path])
        }
    }

    init() throws {
        let long = source.appendingPathComponent(String(repeating: "directory/", count: 12))
        for folder in [source, destination, long] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data("hello\n".utf8).write(to: source.appendingPathComponent("a.txt"))
        try Data(repeating: 7, count: 700_000).write(to: source.appendingPathComponent("b.bin"))
        try Data().write(to: source.appendingPathComponent("empty"))
        try Data(repeating: 1, count: 512).write(to: long.appendingPathComponent("ä file whose path is long"))
        try FileManager.default.createSymbolicLink(
            atPath: source.appendingPathComponent("link").path, withDestinationPath: "a.txt")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// Adds a sparse file of two gigabytes: it uses no disk space, but time to copy.
    func addFileThatTakesLong() throws {
        let file = source.appendingPathComponent("z.bin")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 2 << 30)
        try handle.close()
    }

    func destinationNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: destination.path).sorted()
    }

    /// The content of every file, by its path.
    func contents(of folder: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            let data = try? Data(contentsOf: folder.appendingPathComponent(path))
            if let data { contents[path] = data }
        }
        return contents
    }

    /// Extracts the archive with `tar` and returns the new folder.
    func extract() throws -> URL {
        let folder = root.appendingPathComponent("extracted-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let tar = Process()
        tar.executableURL = URL(fileURLWithPath: "/bin/tar")
        tar.arguments = ["-xf", destination.appendingPathComponent("photos.tar").path, "-C", folder.path]
        // The folder is set for `tar` alone, because other tests change this process's working directory.
        tar.currentDirectoryURL = folder
        try tar.run()
        tar.waitUntilExit()
        #expect(tar.terminationStatus == 0)
        return folder
    }
}
