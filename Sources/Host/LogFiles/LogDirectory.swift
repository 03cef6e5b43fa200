import LinuxSystem
public import TaskModel

/// Which lines of the stored log to read.
public struct LogQuery: Equatable, Sendable {
    /// Lines about this launch alone; `nil` for all.
    public var launch: LaunchID?
    /// Lines about this task alone; `nil` for all.
    public var identifier: TaskIdentifier?
    /// The time of the oldest line; `nil` for no limit.
    public var since: WallTime?
    /// The time of the newest line; `nil` for no limit.
    public var until: WallTime?
    /// The greatest number of lines; the newest count.
    public var limit: Int

    /// Creates a query for the newest lines.
    public init(limit: Int) { self.limit = limit }

    /// Whether the query asks for a line.
    public func wants(_ line: LogLine) -> Bool {
        (launch == nil || line.launch == launch) && (identifier == nil || line.identifier == identifier)
            && since.map { line.at >= $0 } != false && until.map { line.at <= $0 } != false
    }
}

/// The directory with the files of the log.
///
/// The name of a file is the time of its first line, so the files in alphabetical order are in the order of
/// time. Files can end with a part of a line, if the host or the machine failed.
public struct LogDirectory: Sendable {
    static let suffix = ".log"

    /// The path of the directory.
    public let path: String

    /// Names a directory, which need not exist.
    public init(_ path: String) { self.path = path }

    /// The paths of the files, oldest first; none if the directory does not exist.
    var files: [String] {
        ((try? DirectoryTree.names(in: path)) ?? []).filter { $0.hasSuffix(Self.suffix) }
            .map { "\(path)/\($0)" }
    }

    /// A path for a file that begins now, after all present files.
    func freePath(startingAt time: WallTime) -> String {
        let newest = files.last.map { Self.start(of: $0).milliseconds } ?? 0
        let number = String(max(time.milliseconds, newest + 1))
        return "\(path)/\(String(repeating: "0", count: max(0, 14 - number.count)))\(number)\(Self.suffix)"
    }

    /// The time in the name of a file.
    static func start(of file: String) -> WallTime {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        return WallTime(milliseconds: Int64(name.dropLast(suffix.count)) ?? 0)
    }

    /// Removes the oldest files.
    ///
    /// - Parameters:
    ///   - limit: The greatest size of all files together, in bytes.
    ///   - oldest: Files without a later line are removed, too.
    func removeOldest(keeping limit: Int64, since oldest: WallTime) {
        var sum: Int64 = 0
        for file in files.reversed() {
            guard let identity = try? FileIdentity(of: file) else { continue }
            sum += identity.size
            let isOld = WallTime(sinceEpoch: identity.modificationTime) < oldest
            if sum > limit || isOld { try? DirectoryTree.remove(file) }
        }
    }

    /// Reads the newest lines that a query asks for.
    ///
    /// The function reads files, the newest first, until it has enough lines. Damaged lines are left out, and
    /// so are files that can't be read, for example because they were removed in the meantime.
    ///
    /// - Parameter query: Which lines to read.
    /// - Returns: The lines, oldest first.
    public func lines(_ query: LogQuery) -> [LogLine] {
        var found: [LogLine] = []
        for file in files.reversed() where found.count < query.limit {
            // The clock may have been set back in between, by less than an hour if it was about summer time.
            let margin = Duration.seconds(3600)
            if let until = query.until, Self.start(of: file) > until + margin { continue }
            if let since = query.since, let identity = try? FileIdentity(of: file),
                WallTime(sinceEpoch: identity.modificationTime) + margin < since
            {
                break
            }
            guard let bytes = try? FileContents.read(file) else { continue }
            for part in bytes.split(separator: LogFileLine.newline).reversed() {
                guard let line = LogFileLine.decode(part), query.wants(line) else { continue }
                found.append(line)
                if found.count == query.limit { break }
            }
        }
        return found.reversed()
    }
}
