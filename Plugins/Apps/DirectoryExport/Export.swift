import Foundation

/// An export of a directory into a tar file.
///
/// Until the tar file is complete, it has a hidden name.
struct Export: Sendable {
    /// The progress of an attempt: the archive holds everything up to this path.
    struct Place: Codable, Equatable, Sendable {
        /// The last path in the archive.
        var path: String
        /// The length of the archive after this path, in bytes.
        var length: UInt64
    }

    /// An event during the export.
    enum Event: Sendable {
        /// The export begins to read this file.
        case began(number: Int, of: Int)
        /// Everything up to this place is on disk.
        case reached(Place)
    }

    /// How the export ended.
    enum Ending: Equatable, Sendable {
        case finished(files: Int)
        case stopped
    }

    private let source: URL
    /// The final path of the archive.
    let archive: URL
    /// The path of the archive while it is incomplete.
    let unfinished: URL

    /// The export reads files in pieces of this many bytes, and can stop between two pieces.
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

    /// Exports the directory from its beginning, or from where an earlier attempt stopped.
    ///
    /// - Parameters:
    ///   - place: The progress of the last attempt; `nil` starts from the beginning.
    ///   - progress: Gets a child for each file; its unit is a byte.
    ///   - stop: If raised, the export stops.
    ///   - tell: Receives the events of the export.
    /// - Returns: Whether the archive is complete or the export was stopped.
    /// - Throws: An error of the file system; the incomplete archive stays.
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
        // A checkpoint after every file would take more time than reading one file again.
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

    /// Removes the incomplete archive, if there is one.
    func discard() { try? FileManager.default.removeItem(at: unfinished) }

    private func open(after place: Place?) throws -> (FileHandle, Place?) {
        var place = place
        let length =
            (try? FileManager.default.attributesOfItem(atPath: unfinished.path)[.size] as? UInt64) ?? nil
        // The incomplete archive is shorter than the checkpoint requires, for example because a user removed
        // it.
        if let known = place, (length ?? 0) < known.length { place = nil }
        if place == nil { try Data().write(to: unfinished) }
        let output = try FileHandle(forUpdating: unfinished)
        try output.truncate(atOffset: place?.length ?? 0)
        try output.seekToEnd()
        return (output, place)
    }

    /// Appends an entry; returns `false` if the export was stopped in the middle.
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
            // The header already states the size. If the file has become shorter, zeros fill the rest, as in
            // tar.
            if piece.isEmpty { piece = Data(count: min(left, Self.piece)) }
            try output.write(contentsOf: piece)
            left -= piece.count
            progress.completedUnitCount += Int64(piece.count)
        }
        try output.write(contentsOf: Data(count: Int((512 - entry.size % 512) % 512)))
        return true
    }
}

/// The reason why nothing can be exported.
struct ExportProblem: Error, CustomStringConvertible {
    let description: String
}
