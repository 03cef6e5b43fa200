import ControlWire
import LinuxSystem
import Logging
import TaskModel

/// Writes one readable line per record to standard error: `14:05:09 notice  L42 com.example.feed succeeded`.
struct TerminalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    let isOnTerminal: Bool
    let isColored: Bool

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// The error that the HTTP library logs when it is asked to stop.
    ///
    /// It is not shown, because the host logs the stop itself.
    private static let endOfServing: Logger.Message = "Waiting on child channel: CancellationError()"

    func log(event: LogEvent) {
        if event.message == Self.endOfServing { return }
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        let now = SystemClocks().now().wall.milliseconds / 1000
        var words = [ProcessFacts.localTimeOfDay(secondsSinceEpoch: now), level(event.level)]
        for key in ["launch", "identifier"] { words += facts[key].map { ["\($0)"] } ?? [] }
        switch facts["source"].map({ "\($0)" }) {
        case "standardOutput": words.append("|")
        case "standardError": words.append("!")
        case .some: words.append(">")
        case .none: break
        }
        // A manifest can put any text into a message, even a line break, after which the rest would look like
        // another record.
        words.append(Printable.text("\(event.message)"))
        // Another program may write to the same terminal, such as the progress bar of `bgtask submit --wait`.
        // So the line is cleared first.
        let start = isOnTerminal ? "\r\u{1B}[K" : ""
        StandardErrorLines.shared.append(start + words.joined(separator: " ") + "\n")
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
