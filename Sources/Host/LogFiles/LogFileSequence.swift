import LinuxSystem
import TaskModel

/// The files of the log, to which one thread adds lines.
struct LogFileSequence {
    let directory: LogDirectory
    let limits: LogWriter.Limits
    private var file: AppendedFile?
    /// What each of the newest launches has printed and logged.
    private var shares: [LaunchID: Share] = [:]

    private struct Share {
        var bytes: Int64 = 0
        var left = 0
    }

    /// How many launches are counted; the oldest make room.
    private static let countedLaunches = 1024

    init(directory: LogDirectory, limits: LogWriter.Limits) {
        (self.directory, self.limits) = (directory, limits)
    }

    /// The size of a file: a sixteenth of the log, so that removing one removes only a small part of it.
    ///
    /// It is at most 4 MiB, because a reader has a whole file in memory.
    private var fileLimit: Int64 { min(max(1 << 20, limits.size) / 16, 4 << 20) }

    /// Adds a line, in a new file if the present one is full.
    mutating func append(_ line: LogLine, now: WallTime) throws(SystemCallError) {
        let bytes = LogFileLine.encode(line)
        if let launch = line.launch {
            if line.source == .host {
                try tell(of: launch, at: line.at, now: now)
            } else if !take(Int64(bytes.count), from: launch) {
                return
            }
        }
        try write(bytes, now: now)
    }

    /// Takes bytes from the share of a launch; returns false if it is used up.
    private mutating func take(_ bytes: Int64, from launch: LaunchID) -> Bool {
        if shares[launch] == nil, shares.count >= Self.countedLaunches, let oldest = shares.keys.min() {
            shares[oldest] = nil
        }
        var share = shares[launch] ?? Share()
        defer { shares[launch] = share }
        guard share.left == 0, share.bytes + bytes <= limits.perLaunch else {
            share.left += 1
            return false
        }
        share.bytes += bytes
        return true
    }

    /// Adds a line about the lines of a launch that were left out, before the next line of the host about it.
    private mutating func tell(of launch: LaunchID, at time: WallTime, now: WallTime) throws(SystemCallError)
    {
        guard let left = shares[launch]?.left, left > 0 else { return }
        // The share stays used up.
        shares[launch] = Share(bytes: limits.perLaunch)
        let line = LogLine(
            at: time, level: .warning, source: .host, launch: launch,
            message:
                "\(left) \(left == 1 ? "line of this launch was" : "lines of this launch were") not stored, "
                + "because log.perLaunch is \(ByteCount(bytes: limits.perLaunch))")
        try write(LogFileLine.encode(line), now: now)
    }

    private mutating func write(_ bytes: [UInt8], now: WallTime) throws(SystemCallError) {
        if let file, file.size + Int64(bytes.count) <= fileLimit { return try file.append(bytes) }
        file = nil
        try DirectoryTree.make(directory.path)
        directory.removeOldest(
            keeping: max(1 << 20, limits.size) - fileLimit, since: now + (.zero - limits.age))
        let next = try AppendedFile(creating: directory.freePath(startingAt: now))
        do {
            try next.append(bytes)
        } catch {
            // On a full disk, an empty file can often be made.
            try? DirectoryTree.remove(next.path)
            throw error
        }
        file = next
    }

    /// Ends the present file; the next line opens another one.
    mutating func close() { file = nil }
}
