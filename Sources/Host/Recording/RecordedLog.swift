public import LinuxSystem
import Scheduling
import TaskModel

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
    /// - Throws: ``RecordingError`` if the log can't be read, or if it has no segments.
    public static func read(_ path: String) throws(RecordingError) -> [RecordedSegment] {
        var skipped: [RecordingError] = []
        return try read(path, skipped: &skipped)
    }

    /// Reads a log, and leaves files out that can't be read.
    ///
    /// Files that only continue the file before them are joined to it. If that file is gone, because it was
    /// too old, they are left out.
    ///
    /// - Parameters:
    ///   - path: One file, or a directory.
    ///   - skipped: Gets a problem for each file that can't be read.
    /// - Returns: The segments that could be read.
    /// - Throws: ``RecordingError`` if the log can't be read, or if it has no segments.
    public static func read(
        _ path: String, skipped: inout [RecordingError]
    ) throws(RecordingError) -> [RecordedSegment] {
        guard DirectoryTree.isDirectory(path) else { return [try RecordedSegment(reading: path)] }
        var segments: [RecordedSegment] = []
        var isJoinable = false
        for file in try files(inLog: path) {
            do throws(RecordingError) {
                let segment = try RecordedSegment(reading: file)
                if segment.header.hasRecap {
                    segments.append(segment)
                    isJoinable = true
                } else if isJoinable {
                    segments[segments.count - 1].join(segment)
                }
            } catch {
                skipped.append(error)
            }
        }
        guard !segments.isEmpty else {
            throw skipped.first
                ?? RecordingError(
                    subject: path, finding: "the beginning of its recording is gone",
                    remedy:
                        "Give the directory of the whole recording, or try again when the host has begun a new file"
                )
        }
        return segments
    }

    /// Reads each file of a directory alone, and leaves files out that can't be read.
    ///
    /// - Throws: ``RecordingError`` if the log can't be read, or if it has no files.
    public static func readFiles(
        _ path: String, skipped: inout [RecordingError]
    ) throws(RecordingError) -> [RecordedSegment] {
        var segments: [RecordedSegment] = []
        for file in try files(inLog: path) {
            do throws(RecordingError) {
                segments.append(try RecordedSegment(reading: file))
            } catch {
                skipped.append(error)
            }
        }
        return segments
    }

    /// The problems in files that were read one by one, and the gaps between files of the same host.
    public static func problems(of files: [RecordedSegment]) -> [RecordingError] {
        var problems: [RecordingError] = []
        var before: RecordedSegment?
        for file in files {
            if var joined = before, file.header.isContinued {
                let known = joined.problems.count
                joined.join(file)
                problems += joined.problems.dropFirst(known)
            } else {
                problems += file.problems
            }
            before = file
        }
        return problems
    }

    private static func files(inLog path: String) throws(RecordingError) -> [String] {
        let files: [String]
        do {
            files = try Self.files(in: path)
        } catch {
            throw RecordingError(
                subject: path, finding: "\(error)",
                remedy:
                    "Run the command as the user of the host, and check the path. To list the files: bgtask record --state DIR"
            )
        }
        guard !files.isEmpty else {
            throw RecordingError(
                subject: path, finding: "it contains no recording",
                remedy:
                    "Give the path of the directory 'recording' in a host's state directory, or of a file in it. To list the files: bgtask record --state DIR"
            )
        }
        return files
    }
}
