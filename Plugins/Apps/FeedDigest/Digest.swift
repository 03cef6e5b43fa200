import Foundation

/// One entry of the digest.
struct DigestEntry: Codable, Equatable, Sendable {
    /// Identifies the entry among all feeds: the feed's title and the entry's id.
    var key: String { feed + "\n" + id }
    var feed: String
    var id: String
    var title: String
    var link: String
    var published: Date?
    /// The time at which the app first read the entry.
    var found: Date
}

/// The digest: a file of JSON lines that readers can follow with `tail -f`.
///
/// New entries are appended in one write. Compaction writes a smaller file and renames it over the old one.
struct Digest: Sendable {
    let file: URL

    /// The digest of this bundle; the working directory of a launch is the bundle's data directory.
    static var standard: Digest { Digest(file: URL(fileURLWithPath: "digest.jsonl")) }

    /// All entries, in the order in which they were found.
    ///
    /// An incomplete last line was cut off by a crash. It is ignored, and a later refresh finds its entry
    /// again.
    func entries() throws -> [DigestEntry] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        return lines(of: try Data(contentsOf: file)).compactMap {
            try? Self.decoder.decode(DigestEntry.self, from: $0)
        }
    }

    private func lines(of data: Data) -> [Data] {
        guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return data[..<end].split(separator: UInt8(ascii: "\n")).map { Data($0) }
    }

    /// Appends the entries that the digest does not have.
    ///
    /// - Returns: The number of appended entries.
    func add(_ candidates: [DigestEntry]) throws -> Int {
        var known = Set(try entries().map(\.key))
        let new = candidates.filter { known.insert($0.key).inserted }
        guard !new.isEmpty else { return 0 }
        if !FileManager.default.fileExists(atPath: file.path) {
            try Data().write(to: file)
        }
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        var length = try handle.seekToEnd()
        // The new lines overwrite an incomplete line that a crash left.
        let whole = try lengthOfWholeLines()
        if whole < length {
            try handle.truncate(atOffset: whole)
            length = whole
        }
        try handle.seek(toOffset: length)
        try handle.write(contentsOf: Self.text(of: new))
        try handle.synchronize()
        return new.count
    }

    private func lengthOfWholeLines() throws -> UInt64 {
        let data = try Data(contentsOf: file)
        return data.lastIndex(of: UInt8(ascii: "\n")).map { UInt64($0) + 1 } ?? 0
    }

    /// Replaces the digest; a reader sees either the old digest or the new one.
    func replace(with entries: [DigestEntry]) throws {
        try Self.text(of: entries).write(to: file, options: .atomic)
    }

    private static func text(of entries: [DigestEntry]) throws -> Data {
        var text = Data()
        for entry in entries {
            text += try encoder.encode(entry)
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
