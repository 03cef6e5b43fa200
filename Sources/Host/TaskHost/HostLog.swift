import Logging
import Synchronization
import TaskModel

/// The host's memory of the newest log lines, the followers, and the process's own log.
final class HostLog: Sendable {
    /// How many lines are remembered: a day of an ordinary device, 2 MiB of ordinary lines.
    static let capacity = 8192

    private let lines = Mutex<[LogLine]>([])
    private let followers = Broadcaster<LogLine>()
    private let logger: Logger
    private let moments: any MomentSource

    init(logger: Logger, moments: any MomentSource) {
        self.logger = logger
        self.moments = moments
    }

    /// Adds a line; any thread.
    func append(_ line: LogLine) {
        let send = lines.withLock { lines in
            // Half at a time: removing one line per line would move all of them each time.
            if lines.count >= Self.capacity { lines.removeFirst(Self.capacity / 2) }
            lines.append(line)
            return followers.sender()
        }
        send(line)
        var metadata: Logger.Metadata = [:]
        metadata["launch"] = line.launch.map { "\($0)" }
        metadata["identifier"] = line.identifier.map { "\($0)" }
        if line.source != .host { metadata["source"] = "\(line.source.rawValue)" }
        logger.log(level: line.level.loggerLevel, "\(line.message)", metadata: metadata)
    }

    /// Adds a line of the host's own.
    func append(
        _ level: LogLine.Level, _ message: String, launch: LaunchID? = nil, identifier: TaskIdentifier? = nil
    ) {
        append(
            LogLine(
                at: moments.now().wall, level: level, source: .host, launch: launch, identifier: identifier,
                message: message))
    }

    /// The remembered lines, oldest first.
    func remembered() -> [LogLine] { lines.withLock { $0 } }

    /// The remembered lines, oldest first, and a follower of all that come after them.
    ///
    /// - Parameter receive: Called for each new line on the thread that writes it, then with `nil`; must not
    ///   block.
    /// - Returns: The lines, and what ends the calls.
    func follow(_ receive: @escaping @Sendable (LogLine?) -> Void) -> (
        remembered: [LogLine], stop: @Sendable () -> Void
    ) {
        // Under the lock of the lines, as `append` finds its followers: each line comes in one way, once.
        lines.withLock { ($0, followers.listen(receive)) }
    }

    /// Says to the followers that no more lines come.
    func finish() { followers.finish() }
}

extension LogLine.Level {
    /// The level in the process's own log.
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
