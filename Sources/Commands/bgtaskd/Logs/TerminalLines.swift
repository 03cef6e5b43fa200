import LinuxSystem
import Logging
import TaskModel

/// One readable line for each record: `14:05:09 notice  L42 com.example.feed succeeded`.
struct TerminalLines: LogForm {
    let isOnTerminal: Bool
    let isColored: Bool

    func text(of record: LogRecord) -> String {
        var words = [
            ProcessFacts.localTimeOfDay(secondsSinceEpoch: record.at.milliseconds / 1000),
            level(record.level),
        ]
        words += [record.launch, record.identifier].compactMap(\.self)
        switch record.source {
        case .standardOutput: words.append("|")
        case .standardError: words.append("!")
        case .handler: words.append(">")
        case .host: break
        }
        words.append(record.message)
        // Another program may write to the same terminal, such as the progress bar of `bgtask submit --wait`.
        // So the line is cleared first.
        let start = isOnTerminal ? "\r\u{1B}[K" : ""
        return start + words.joined(separator: " ") + "\n"
    }

    private func level(_ level: Logger.Level) -> String {
        let text = level.rawValue.padding(to: 7)
        guard isColored else { return text }
        switch level {
        case .error, .critical: return "\u{1B}[31m\(text)\u{1B}[0m"
        case .warning: return "\u{1B}[33m\(text)\u{1B}[0m"
        case .trace, .debug, .info: return "\u{1B}[2m\(text)\u{1B}[0m"
        case .notice: return text
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
