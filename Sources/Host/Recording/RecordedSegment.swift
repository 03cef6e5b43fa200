import ControlWire
public import LinuxSystem
import TaskModel

/// Why a log can't be read.
public struct RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or directory, with the line where there is one.
    public let subject: String
    /// What was found.
    public let finding: String
    /// What to do.
    public let remedy: String

    /// Subject, finding and remedy.
    public var description: String { "\(subject): \(finding). \(remedy)" }
}

/// One file of a log: it begins with everything that a scheduler must know, so that it can be replayed by
/// itself.
public struct RecordedSegment: Sendable {
    /// The first line of a file.
    public struct Header: Equatable, Sendable, Codable {
        /// The format of the lines; a reader of another one refuses the file.
        public static let currentFormat = 1

        /// The format of the lines.
        public var format: Int
        /// The product's version that wrote it.
        public var product: String
        /// Whether the same host went on from the segment before; false after the start of a host.
        public var isContinued: Bool

        init(isContinued: Bool) {
            format = Self.currentFormat
            product = ProductVersion.current
            self.isContinued = isContinued
        }
    }

    /// Where it was read.
    public let path: String
    /// Its first line.
    public let header: Header
    /// The other lines.
    public let entries: [RecordedEntry]
    /// Whether its last line is incomplete: the host was killed, or writes it just now.
    public let isCut: Bool

    /// How many launches began in it.
    public var launchCount: Int { entries.count(where: \.isLaunch) }

    /// Creates a segment from lines that are not in a file.
    public init(path: String, entries: [RecordedEntry]) {
        self.path = path
        self.entries = entries
        header = Header(isContinued: false)
        isCut = false
    }

    /// Reads a file of a log.
    ///
    /// - Throws: ``RecordingError`` with the line that can't be read.
    public init(reading path: String) throws(RecordingError) {
        self.path = path
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path)
        } catch {
            throw RecordingError(
                subject: path, finding: "it can't be read: \(error)",
                remedy: "Name a log that a host recorded: a file, or its directory (bgtask record)")
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let rest = lines.popLast() ?? []
        isCut = !rest.isEmpty
        guard let first = lines.first else {
            throw RecordingError(
                subject: path, finding: "it is empty",
                remedy: "Name a log that a host recorded (bgtask record)")
        }
        header = try Self.decode(Header.self, first, "\(path):1")
        guard header.format == Header.currentFormat else {
            throw RecordingError(
                subject: path,
                finding:
                    "its format is \(header.format) (\(header.product)), and this program reads \(Header.currentFormat)",
                remedy: "Replay it with the version that recorded it")
        }
        var entries: [RecordedEntry] = []
        entries.reserveCapacity(lines.count)
        for (index, line) in lines.enumerated().dropFirst() {
            entries.append(try Self.decode(RecordedEntry.self, line, "\(path):\(index + 1)"))
        }
        self.entries = entries
    }

    private static func decode<Line: Decodable>(
        _ type: Line.Type, _ bytes: ArraySlice<UInt8>, _ place: String
    ) throws(RecordingError) -> Line {
        do {
            return try ControlJSON.decode(type, from: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw RecordingError(
                subject: place, finding: "it is not a line of a log: \(ControlJSON.sentence(of: error))",
                remedy: "Name a file or a directory that bgtaskd recorded, and use the same version of bgtask"
            )
        }
    }
}

/// The files of a log.
public enum RecordedLog {
    static let prefix = "events-"
    static let suffix = ".jsonl"

    /// The file of a segment that begins then; names sort by time.
    static func path(in directory: String, startingAt time: WallTime) -> String {
        let number = String(max(0, time.milliseconds))
        return
            "\(directory)/\(prefix)\(String(repeating: "0", count: max(0, 14 - number.count)))\(number)\(suffix)"
    }

    /// When a segment begins, by its name; the distant past for a name without a time.
    static func start(of path: String) -> WallTime {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return WallTime(milliseconds: Int64(name.dropFirst(prefix.count).dropLast(suffix.count)) ?? 0)
    }

    /// The files of a directory, oldest first.
    ///
    /// - Throws: The `opendir` that failed.
    public static func files(in directory: String) throws(SystemCallError) -> [String] {
        try DirectoryTree.names(in: directory).filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
            .map { "\(directory)/\($0)" }
    }

    /// Reads a log: one file, or every segment of a directory, oldest first.
    ///
    /// - Throws: ``RecordingError``.
    public static func read(_ path: String) throws(RecordingError) -> [RecordedSegment] {
        guard DirectoryTree.isDirectory(path) else { return [try RecordedSegment(reading: path)] }
        let files: [String]
        do {
            files = try Self.files(in: path)
        } catch {
            throw RecordingError(
                subject: path, finding: "\(error)", remedy: "Run the command as the user of the host")
        }
        guard !files.isEmpty else {
            throw RecordingError(
                subject: path, finding: "it contains no recording",
                remedy: "Name the directory 'recording' of a host's state, or one file of it: bgtask record")
        }
        var segments: [RecordedSegment] = []
        for file in files { segments.append(try RecordedSegment(reading: file)) }
        return segments
    }
}
