import Foundation

/// An export of a directory into a tar file beside which, until it is whole, stands a hidden one.
struct Export: Sendable {
    /// How far an attempt came: everything up to this path is in the archive.
    struct Place: Codable, Equatable, Sendable {
        /// The last path that is in it.
        var path: String
        /// How many bytes the archive had then.
        var length: UInt64
    }

    /// What is reported during the export.
    enum Event: Sendable {
        /// The file of that number is read.
        case began(number: Int, of: Int)
        /// This much is on disk.
        case reached(Place)
    }

    /// How it ended.
    enum Ending: Equatable, Sendable {
        case finished(files: Int)
        case stopped
    }

    private let source: URL
    /// Where the archive will be.
    let archive: URL
    /// Where it is made.
    let unfinished: URL

    /// Files are read in pieces of this many bytes; the export can stop between two pieces.
    private static let piece = 256 << 10

    /// Names the archive after the directory.
    init(of source: URL, into destination: URL) throws {
        self.source = source.standardizedFileURL
        let name = self.source.lastPathComponent
        guard !name.isEmpty, name != "/" else {
            throw ExportProblem(description: "\(source.path): the root has no name for the archive")
        }
        archive = destination.appendingPathComponent(name + ".tar")
        unfinished = destination.appendingPathComponent(".\(name).tar.unfinished")
    }

    /// Exports, from the beginning or after a place.
    ///
    /// - Parameters:
    ///   - place: Where the last attempt came to; `nil` begins.
    ///   - progress: Gets a child for each file, by bytes.
    ///   - stop: Ends it midway.
    ///   - tell: Hears how far it is.
    /// - Returns: Whether the archive is whole, or it was stopped.
    /// - Throws: What the file system says; the unfinished archive stays.
    func run(
        from place: Place?, progress: Progress, stop: StopFlag, _ tell: (Event) -> Void
    ) throws -> Ending {
        let entries = try TreeEntry.all(in: source)
        let (output, place) = try open(after: place)
        defer { try? output.close() }
        let files = entries.filter { $0.kind == .file }
        progress.totalUnitCount = max(1, files.reduce(0) { $0 + $1.size })
        var number = 0
        var told = place
        var done = place
        // A checkpoint for every file would cost more than reading it again.
        func save(ifAtLeast bytes: UInt64) throws {
            guard let last = done, last.length - (told?.length ?? 0) >= bytes else { return }
            try output.synchronize()
            tell(.reached(last))
            told = last
        }
        for entry in entries {
            if entry.kind == .file { number += 1 }
            if let place, entry.path <= place.path {
                progress.completedUnitCount += entry.size
                continue
            }
            if entry.kind == .file { tell(.began(number: number, of: files.count)) }
            guard !stop.isRaised, try append(entry, to: output, progress, stop) else {
                try save(ifAtLeast: 1)
                return .stopped
            }
            done = Place(path: entry.path, length: try output.offset())
            try save(ifAtLeast: 1 << 20)
        }
        try output.write(contentsOf: Data(count: 1024))
        try output.synchronize()
        if FileManager.default.fileExists(atPath: archive.path) {
            _ = try FileManager.default.replaceItemAt(archive, withItemAt: unfinished)
        } else {
            try FileManager.default.moveItem(at: unfinished, to: archive)
        }
        if files.reduce(0, { $0 + $1.size }) == 0 { progress.completedUnitCount = 1 }
        return .finished(files: files.count)
    }

    /// Removes what is there of an archive that will never be whole.
    func discard() { try? FileManager.default.removeItem(at: unfinished) }

    private func open(after place: Place?) throws -> (FileHandle, Place?) {
        var place = place
        let length =
            (try? FileManager.default.attributesOfItem(atPath: unfinished.path)[.size] as? UInt64) ?? nil
        // A user has removed the files that the checkpoint names.
        if let known = place, (length ?? 0) < known.length { place = nil }
        if place == nil { try Data().write(to: unfinished) }
        let output = try FileHandle(forUpdating: unfinished)
        try output.truncate(atOffset: place?.length ?? 0)
        try output.seekToEnd()
        return (output, place)
    }

    /// Appends an entry; `false` if it was stopped in the middle.
    private func append(
        _ entry: TreeEntry, to output: FileHandle, _ parent: Progress, _ stop: StopFlag
    ) throws -> Bool {
        try output.write(contentsOf: TarHeader.bytes(for: entry))
        guard entry.kind == .file, entry.size > 0 else { return true }
        let progress = Progress(totalUnitCount: entry.size, parent: parent, pendingUnitCount: entry.size)
        let input = try FileHandle(forReadingFrom: source.appendingPathComponent(entry.path))
        defer { try? input.close() }
        var left = Int(entry.size)
        while left > 0 {
            if stop.isRaised { return false }
            var piece = try input.read(upToCount: min(left, Self.piece)) ?? Data()
            // The header has promised the size: a file that was cut since is filled up, as tar does.
            if piece.isEmpty { piece = Data(count: min(left, Self.piece)) }
            try output.write(contentsOf: piece)
            left -= piece.count
            progress.completedUnitCount += Int64(piece.count)
        }
        try output.write(contentsOf: Data(count: Int((512 - entry.size % 512) % 512)))
        return true
    }
}

/// Why nothing can be exported.
struct ExportProblem: Error, CustomStringConvertible {
    let description: String
}
