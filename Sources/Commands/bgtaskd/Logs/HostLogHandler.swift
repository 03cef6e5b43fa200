import ControlWire
import HostSettings
import LinuxSystem
import Logging
import TaskModel

/// One record of the host's log, as the forms write it.
struct LogRecord: Sendable {
    var at: WallTime
    var level: Logger.Level
    /// The text, without control characters.
    var message: String
    /// The launch, such as `L42`; `nil` if the record is about none.
    var launch: String?
    /// The task; `nil` if the record is about none.
    var identifier: String?
    /// Where the record comes from.
    var source: LogLine.Source
}

/// How the records of the log are written.
protocol LogForm: Sendable {
    /// A record with all its line breaks.
    func text(of record: LogRecord) -> String
}

/// Writes the records of the host's log in a form, through a writer that never blocks the host.
struct HostLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let form: any LogForm
    let writer: StandardErrorLines

    init(level: Logger.Level, form: any LogForm, writer: StandardErrorLines) {
        (logLevel, self.form, self.writer) = (level, form, writer)
    }

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
        func fact(_ key: String) -> String? { facts[key].map { "\($0)" } }
        let record = LogRecord(
            at: SystemClocks().now().wall, level: event.level,
            // A manifest can put any text into a message, even a line break, after which the rest would look
            // like another record.
            message: Printable.text("\(event.message)"), launch: fact("launch"),
            identifier: fact("identifier"),
            source: fact("source").flatMap(LogLine.Source.init) ?? .host)
        writer.append(form.text(of: record))
    }
}

extension HostLogHandler {
    /// The form and the writer that a setting asks for.
    ///
    /// - Parameters:
    ///   - format: The setting; ``LogFormat/automatic`` chooses the journal if systemd has connected standard
    ///     error to it, and else text.
    ///   - level: Records below this level are not written.
    /// - Returns: The handler.
    static func chosen(_ format: LogFormat, level: Logger.Level) -> HostLogHandler {
        let isJournal = format == .journal || (format == .automatic && Journal.hasStandardError)
        if isJournal, let journal = Journal() {
            return HostLogHandler(
                level: level, form: JournalFields(),
                writer: StandardErrorLines { if !journal.send($0) { ProcessFacts.writeToStandardError($0) } })
        }
        let terminal = TerminalLines(
            isOnTerminal: ProcessFacts.hasTerminal,
            isColored: ProcessFacts.hasTerminal && ProcessFacts.environment("NO_COLOR") == nil)
        return HostLogHandler(
            level: level, form: format == .json ? JSONLines() : terminal, writer: .shared)
    }
}
