import Foundation
import os

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The reason why a feed cannot be read.
struct FeedProblem: Error, CustomStringConvertible {
    let description: String
}

/// Reads the subscribed feeds: the files in `feeds`, and the URLs in `subscriptions.txt`, one on each line.
struct Refresh: Sendable {
    var digest = Digest.standard
    var folder = URL(fileURLWithPath: "feeds")
    var subscriptions = URL(fileURLWithPath: "subscriptions.txt")

    private static let logger = Logger(subsystem: "org.bgtask.feeddigest", category: "refresh")

    /// Reads all feeds.
    ///
    /// It logs a feed that cannot be read, and continues with the others.
    func run(now: Date = Date()) async throws {
        var sources =
            FileManager.default.fileExists(atPath: folder.path) ? try FeedFolder(folder).files() : []
        if let text = try? String(contentsOf: subscriptions, encoding: .utf8) {
            sources += text.split(whereSeparator: \.isNewline).compactMap { URL(string: String($0)) }
        }
        let entries = await withTaskGroup(of: [DigestEntry].self) { group in
            for source in sources {
                group.addTask { await Self.entries(of: source, now: now) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try Task.checkCancellation()
        let new = try digest.add(entries)
        Self.logger.notice("\(new) of \(entries.count) entries of \(sources.count) feeds are new")
    }

    static func entries(of source: URL, now: Date) async -> [DigestEntry] {
        do {
            return try FeedReader.read(try await data(of: source), now: now)
        } catch {
            // The address of a feed is private. The log has a hash of it, which still distinguishes the
            // feeds.
            logger.warning(
                "\(source.absoluteString, privacy: .private(mask: .hash)) is skipped: \(String(describing: error), privacy: .public)"
            )
            return []
        }
    }

    private static func data(of source: URL) async throws -> Data {
        if source.isFileURL { return try Data(contentsOf: source) }
        let (data, response) = try await URLSession.shared.data(from: source)
        if let status = (response as? HTTPURLResponse)?.statusCode, status != 200 {
            throw FeedProblem(description: "the server answers \(status)")
        }
        return data
    }
}

/// The feeds of a folder.
struct FeedFolder: Sendable {
    let folder: URL

    init(_ folder: URL) { self.folder = folder }

    /// The files in the folder with the usual extensions of feeds, sorted.
    func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { ["atom", "rdf", "rss", "xml"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
    }
}

/// Reads the feeds of one folder once; the request's payload names the folder.
struct FolderImport: Sendable {
    var digest = Digest.standard
    let folder: FeedFolder

    private struct Payload: Decodable {
        let directory: String
    }

    init(payload: Data?) throws {
        guard let payload else { throw FeedProblem(description: "the request names no directory") }
        let directory = try JSONDecoder().decode(Payload.self, from: payload).directory
        folder = FeedFolder(URL(fileURLWithPath: directory, isDirectory: true))
    }

    func run(now: Date = Date()) async throws {
        let files = try folder.files()
        var entries: [DigestEntry] = []
        for file in files where !Task.isCancelled { entries += await Refresh.entries(of: file, now: now) }
        // The entries that were read before cancellation are stored.
        let new = try digest.add(entries)
        try Task.checkCancellation()
        Chain.logger.notice("imported \(new) of \(entries.count) entries of \(files.count) files")
    }
}
