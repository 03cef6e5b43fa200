import LinuxSystem
import Logging
import TaskModel

/// The fields of a record in systemd's journal: each `NAME=value` is on its own line.
///
/// `journalctl BGTASK_IDENTIFIER=com.example.feed` then shows the records of one task. No value contains a
/// line break, so the form with a length is never needed.
struct JournalFields: LogForm {
    func text(of record: LogRecord) -> String {
        var fields = [
            "MESSAGE=" + message(record), "PRIORITY=\(priority(record.level))",
            "SYSLOG_IDENTIFIER=bgtaskd", "BGTASK_SOURCE=\(record.source.rawValue)",
        ]
        fields += record.launch.map { ["BGTASK_LAUNCH=\($0)"] } ?? []
        fields += record.identifier.map { ["BGTASK_IDENTIFIER=\($0)"] } ?? []
        return fields.joined(separator: "\n") + "\n"
    }

    /// The message in the text of a record; empty if it has none.
    static func message(in fields: String) -> String {
        let first = fields.prefix { $0 != "\n" }
        return first.hasPrefix("MESSAGE=") ? String(first.dropFirst(8)) : ""
    }

    /// The message with its launch and task, because journalctl shows only this field by default.
    private func message(_ record: LogRecord) -> String {
        ([record.launch, record.identifier].compactMap(\.self) + [record.message]).joined(separator: " ")
    }

    /// The number of a level in syslog(3).
    private func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .trace, .debug: 7
        }
    }
}
