import Dispatch
import Foundation

/// What the mirror knows about one of its files.
struct IndexEntry: Codable, Equatable, Sendable {
    /// The server's ETag of this version; `nil` if the server sent none.
    var tag: String?
    var modified: String?
    var sha256: String
}

/// The mirror's folder.
///
/// It uses its own dispatch queue, so that a slow disk does not block Swift's few threads.
struct Disk: Sendable {
    private let folder: URL
    private let queue = DispatchQueue(label: "org.bgtask.mirrorkeeper.disk", qos: .utility)

    init(_ folder: URL) { self.folder = folder }

    private var indexFile: URL { folder.appendingPathExtension("index.json") }

    /// The stored index; empty if there is no index, or none that can be read.
    func readIndex() async throws -> [String: IndexEntry] {
        try await onQueue {
            guard let data = try? Data(contentsOf: indexFile) else { return [:] }
            return (try? JSONDecoder().decode([String: IndexEntry].self, from: data)) ?? [:]
        }
    }

    func writeIndex(_ index: [String: IndexEntry]) async throws {
        try await onQueue {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            try encoder.encode(index).write(to: indexFile, options: .atomic)
        }
    }

    /// Whether the file exists and its content has this hash.
    func has(_ path: String, _ hash: String?) async -> Bool {
        guard let hash else { return false }
        let file = folder.appendingPathComponent(path)
        let data = try? await onQueue { try Data(contentsOf: file) }
        return data.map(SHA256.hex(of:)) == hash
    }

    /// Writes a file; a reader sees either the old content or the new content.
    func write(_ data: Data, to path: String) async throws {
        try await onQueue {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file, options: .atomic)
        }
    }

    /// Removes the files that a list does not have, and the directories that become empty.
    ///
    /// - Returns: The number of removed files.
    func prune(keeping paths: Set<String>) async throws -> Int {
        try await onQueue {
            let files = FileManager.default
            var removed = 0
            let all = (files.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [])
            // The reverse order removes the contents of a directory before the directory.
            for path in all.sorted(by: >) where !paths.contains(path) {
                let full = folder.appendingPathComponent(path)
                var isDirectory: ObjCBool = false
                guard files.fileExists(atPath: full.path, isDirectory: &isDirectory) else { continue }
                if isDirectory.boolValue {
                    guard try files.contentsOfDirectory(atPath: full.path).isEmpty else { continue }
                } else {
                    removed += 1
                }
                try files.removeItem(at: full)
            }
            return removed
        }
    }

    private func onQueue<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws
        -> Answer
    {
        try await withCheckedThrowingContinuation { waiting in
            queue.async { waiting.resume(with: Result(catching: work)) }
        }
    }
}
