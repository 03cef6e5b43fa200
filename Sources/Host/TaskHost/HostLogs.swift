public import LogFiles
public import Logging
public import TaskModel

/// The host's log, in memory and in files; `LogControl` documents the functions.
public struct HostLogs: Sendable {
    let host: TaskHost

    /// The log lines in memory and, with `following`, all new lines.
    public func log(
        following receive: (@Sendable (LogLine?) -> Void)?
    ) -> (remembered: [LogLine], stop: @Sendable () -> Void) {
        receive.map { host.log.follow($0) } ?? (host.log.remembered(), {})
    }

    /// A logger whose lines `bgtask logs` shows, too.
    ///
    /// For parts of the host that are modules of their own, and that limit how many lines others can cause.
    public func logger(_ label: String) -> Logger {
        Logger(label: label) { [log = host.log] _ in HostLogBridge(log: log) }
    }

    /// The newest lines that a query asks for, oldest first.
    public func lines(_ query: LogQuery) async -> [LogLine] {
        await host.log.lines(query, in: host.configuration.logDirectory)
    }

    /// The lines about a launch.
    func lines(of launch: LaunchRecord) async -> [LogLine] {
        var query = LogQuery(limit: HostLog.capacity)
        query.launch = launch.id
        // The lines of a launch are written from its start to soon after its end.
        query.since = launch.startedAt + .seconds(-60)
        query.until = launch.endedAt.map { $0 + .seconds(60) }
        return await lines(query)
    }

    /// Begins to store all lines.
    ///
    /// - Returns: The work, which ends when the log has been finished.
    func begin() -> Task<Void, Never> {
        let (log, directory, limits) = (
            host.log, host.configuration.logDirectory, host.configuration.logLimits
        )
        return Task { await log.store(in: directory, limits) }
    }
}
