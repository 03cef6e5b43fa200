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
    /// Creates the handler of a form.
    private init(
        level: Logger.Level, form: any LogForm,
        write: @escaping @Sendable (String) -> Void = ProcessFacts.writeToStandardError
    ) {
        let writer = StandardErrorLines(write: write) { count in
            form.text(
                of: LogRecord(
                    at: SystemClocks().now().wall, level: .warning,
                    message: "\(count) lines of the log are lost: nothing read them in time", source: .host))
        }
        self.init(level: level, form: form, writer: writer)
    }

    /// The form and the writer that a setting asks for.
    ///
    /// - Parameters:
    ///   - format: The setting; ``LogFormat/automatic`` chooses the journal if systemd has connected standard
    ///     error to it, and else text.
    ///   - level: Records below this level are not written.
    /// - Returns: The handler; one for text if the journal can't be reached.
    static func chosen(_ format: LogFormat, level: Logger.Level) -> HostLogHandler {
        let isJournal = format == .journal || (format == .automatic && Journal.hasStandardError)
        if isJournal, let journal = Journal() {
            return HostLogHandler(level: level, form: JournalFields()) { fields in
                // Without the journal, the message alone goes to standard error.
                if !journal.send(fields) {
                    ProcessFacts.writeToStandardError(JournalFields.message(in: fields) + "\n")
                }
            }
        }
        if format == .json { return HostLogHandler(level: level, form: JSONLines()) }
        let isOnTerminal = ProcessFacts.hasTerminal
        let terminal = TerminalLines(
            isOnTerminal: isOnTerminal,
            isColored: isOnTerminal && ProcessFacts.environment("NO_COLOR") == nil)
        let handler = HostLogHandler(level: level, form: terminal)
        if format == .journal {
            handler.writer.append(
                terminal.text(
                    of: LogRecord(
                        at: SystemClocks().now().wall, level: .warning,
                        message: "this machine has no journal, so the log goes to standard error as text",
                        source: .host)))
        }
        return handler
    }
}
