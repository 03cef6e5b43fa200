import ControlWire
public import LinuxSystem
import TaskModel

/// The reason why a log can't be read.
public struct RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or directory, followed by the line number if a line is wrong.
    public let subject: String
    /// What is wrong.
    public let finding: String
    /// What the user should do.
    public let remedy: String

    /// Subject, finding and remedy, in one line.
    public var description: String { "\(subject): \(finding). \(remedy)" }
}

/// One file of a log.
///
/// It begins with all facts that a scheduler needs, so that each file can be replayed alone.
public struct RecordedSegment: Sendable {
    /// The first line of a segment.
    public struct Header: Equatable, Sendable, Codable {
        /// The present format of the lines; files with another format are refused.
        public static let currentFormat = 1

        /// The format of the segment's lines.
        public var format: Int
        /// The version of bgtask that wrote the segment.
        public var product: String
        /// Whether the same host wrote the segment before this one; false for the first segment of a host.
        public var isContinued: Bool

        init(isContinued: Bool) {
            format = Self.currentFormat
            product = ProductVersion.current
            self.isContinued = isContinued
        }
    }

    /// The path of the file.
    public let path: String
    /// The first line of the file.
    public let header: Header
    /// The other lines of the file.
    public let entries: [RecordedEntry]
    /// Whether the last line is incomplete, because the host was killed or is writing it now.
    public let isCut: Bool

    /// The number of launches that began in this segment.
    public var launchCount: Int { entries.count(where: \.isLaunch) }

    /// Creates a segment from lines that are not in a file.
    public init(path: String, entries: [RecordedEntry]) {
        self.path = path
        self.entries = entries
        header = Header(isContinued: false)
        isCut = false
    }

    /// Reads a segment from a file.
    ///
    /// - Throws: ``RecordingError`` that names the first line that can't be read.
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

/// Finds and reads the segments of a log.
public enum RecordedLog {
    static let prefix = "events-"
    static let suffix = ".jsonl"

    /// The path of a segment that begins at this time; paths in alphabetical order are in the order of time.
    static func path(in directory: String, startingAt time: WallTime) -> String {
        let number = String(max(0, time.milliseconds))
        return
            "\(directory)/\(prefix)\(String(repeating: "0", count: max(0, 14 - number.count)))\(number)\(suffix)"
    }

    /// When a segment begins, according to its name; 1970 if the name has no time.
    static func start(of path: String) -> WallTime {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return WallTime(milliseconds: Int64(name.dropFirst(prefix.count).dropLast(suffix.count)) ?? 0)
    }

    /// The paths of all segments in a directory, oldest first.
    ///
    /// - Throws: The system call's error if the directory can't be read.
    public static func files(in directory: String) throws(SystemCallError) -> [String] {
        try DirectoryTree.names(in: directory).filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
            .map { "\(directory)/\($0)" }
    }

    /// Reads a log: one file, or all segments of a directory, oldest first.
    ///
    /// - Throws: ``RecordingError`` if a file can't be read, or if the directory has no segments.
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
                remedy:
                    "Name the directory 'recording' in the state directory of a host, or a file in it. List them: bgtask record"
            )
        }
        var segments: [RecordedSegment] = []
        for file in files { segments.append(try RecordedSegment(reading: file)) }
        return segments
    }
}
