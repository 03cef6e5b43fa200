import Dispatch
import LogFiles
import Logging
import Synchronization
import TaskModel

/// Keeps the newest log lines in memory, and sends each line to followers, to files and to the log of the
/// host's process.
///
/// All functions can be called from any thread.
final class HostLog: Sendable {
    /// The maximum number of lines in memory: a day of an ordinary device, and about 2 MiB.
    static let capacity = 8192

    private let lines = Mutex<[LogLine]>([])
    private let followers = Broadcaster<LogLine>()
    private let logger: Logger
    private let moments: any MomentSource
    private let writer = LogWriter()

    init(logger: Logger, moments: any MomentSource) {
        self.logger = logger
        self.moments = moments
    }

    /// Adds a line.
    func append(_ line: LogLine) {
        let send = lines.withLock { lines in
            // Removes half of the lines at once, because removing the first line moves all others.
            if lines.count >= Self.capacity { lines.removeFirst(Self.capacity / 2) }
            lines.append(line)
            return followers.sender()
        }
        send(line)
        writer.append(line)
        var metadata: Logger.Metadata = [:]
        metadata["launch"] = line.launch.map { "\($0)" }
        metadata["identifier"] = line.identifier.map { "\($0)" }
        if line.source != .host { metadata["source"] = "\(line.source.rawValue)" }
        logger.log(level: line.level.loggerLevel, "\(line.message)", metadata: metadata)
    }

    /// Adds a line of the host itself.
    func append(
        _ level: LogLine.Level, _ message: String, launch: LaunchID? = nil, identifier: TaskIdentifier? = nil
    ) {
        append(
            LogLine(
                at: moments.now().wall, level: level, source: .host, launch: launch, identifier: identifier,
                message: message))
    }

    /// Stores the lines in files; returns after ``finish()``, when all lines are stored.
    func store(in directory: LogDirectory, _ limits: LogWriter.Limits) async {
        await writer.run(
            in: directory, limits: limits, at: { [moments] in moments.now().wall },
            onProblem: { [weak self] in self?.append(.warning, $0) })
    }

    /// Reads the newest lines that a query asks for, from the files or, if the log is not stored, from
    /// memory.
    ///
    /// - Returns: The lines, oldest first.
    func lines(_ query: LogQuery, in directory: LogDirectory) async -> [LogLine] {
        if await writer.flush() {
            return await withCheckedContinuation { answer in
                DispatchQueue.global(qos: .utility).async { answer.resume(returning: directory.lines(query)) }
            }
        }
        return Array(remembered().lazy.filter(query.wants).suffix(query.limit))
    }

    /// The lines in memory, oldest first.
    func remembered() -> [LogLine] { lines.withLock { $0 } }

    /// Returns the lines in memory, oldest first, and passes every later line to a follower.
    ///
    /// - Parameter receive: Called with each later line, on the thread that logs it, and with `nil` after the
    ///   last line. It must not block.
    /// - Returns: The lines, and a function that ends following; a line that is being written at that moment
    ///   may still arrive.
    func follow(_ receive: @escaping @Sendable (LogLine?) -> Void) -> (
        remembered: [LogLine], stop: @Sendable () -> Void
    ) {
        // The copy and the start of following share the lock that `append` uses, so no line is missed and
        // none arrives twice.
        lines.withLock { ($0, followers.listen(receive)) }
    }

    /// Notifies the followers that no more lines follow.
    func finish() {
        followers.finish()
        writer.finish()
    }
}

extension LogLine.Level {
    /// The level in the log of the host's process.
    fileprivate var loggerLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
