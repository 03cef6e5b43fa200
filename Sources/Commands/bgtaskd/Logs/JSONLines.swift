import ControlWire
import Logging
import TaskModel

/// One JSON object on a line for each record, with the keys of `bgtask logs --json`.
struct JSONLines: LogForm {
    func text(of record: LogRecord) -> String {
        let line = LogLine(
            at: record.at, level: record.level.ofLine, source: record.source,
            launch: record.launch.flatMap(LaunchID.init),
            identifier: record.identifier.flatMap { try? TaskIdentifier($0) }, message: record.message)
        guard let text = try? ControlJSON.line(LogLineMessage(line)) else { return "" }
        return String(decoding: text, as: UTF8.self) + "\n"
    }
}

extension Logger.Level {
    /// The level of a line of `bgtask logs`.
    fileprivate var ofLine: LogLine.Level {
        switch self {
        case .trace, .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error, .critical: .error
        }
    }
}
