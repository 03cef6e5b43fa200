import Logging
import Synchronization
import TaskModel

/// The host's memory of the newest log lines, the followers, and the process's own log.
final class HostLog: Sendable {
    /// How many lines are remembered: a day of an ordinary device, 2 MiB of ordinary lines.
    static let capacity = 8192

    private let lines = Mutex<[LogLine]>([])
    private let followers = Broadcaster<LogLine>(capacity: HostLog.capacity, overflow: .dropsOldest)
    private let logger: Logger
    private let moments: any MomentSource

    init(logger: Logger, moments: any MomentSource) {
        self.logger = logger
        self.moments = moments
    }

    /// Adds a line; any thread.
    func append(_ line: LogLine) {
        lines.withLock { lines in
            // Half at a time: removing one line per line would move all of them each time.
            if lines.count >= Self.capacity { lines.removeFirst(Self.capacity / 2) }
            lines.append(line)
        }
        followers.send(line)
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

    /// The remembered lines, then new ones if they are followed.
    func stream(following: Bool) -> AsyncStream<LogLine> {
        let (stream, continuation) = AsyncStream.makeStream(of: LogLine.self)
        // Listen first: a line in between is then seen twice at worst and dropped below, never missed.
        let new = following ? followers.listen() : nil
        let old = remembered()
        for line in old { continuation.yield(line) }
        guard let new else {
            continuation.finish()
            return stream
        }
        let last = old.last
        let forwarding = Task {
            for await line in new where line != last { continuation.yield(line) }
            continuation.finish()
        }
        continuation.onTermination = { _ in forwarding.cancel() }
        return stream
    }

    /// Ends the streams of the followers.
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
