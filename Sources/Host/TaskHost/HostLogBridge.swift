import Logging
import TaskModel

/// Writes the lines of a logger to the log of the host, which passes them on to the log of the process.
struct HostLogBridge: LogHandler {
    let log: HostLog
    /// The log of the process has the level of the configuration.
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.append(Self.level(event.level), "\(event.message)")
    }

    private static func level(_ level: Logger.Level) -> LogLine.Level {
        switch level {
        case .trace, .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error, .critical: .error
        }
    }
}
