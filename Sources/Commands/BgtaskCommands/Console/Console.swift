import ArgumentParser
import Calendars
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

/// The output of a command: text for people or JSON for programs on standard output, and error messages on
/// standard error.
struct Console: Sendable {
    /// The program that reads standard output has closed it.
    struct Closed: Error {}

    /// The exit status if the output can't be written, for example to a full disk.
    static let outputFailed: Int32 = 1

    /// Whether the user passed `--json`.
    let json: Bool
    /// Whether standard output is a terminal that accepts control sequences, and the user did not pass
    /// `--json`.
    let isLive: Bool
    /// The terminal's width in columns; `nil` if there is no terminal, and then no line is cut.
    let width: Int?
    /// The colours of the text.
    let style: Style
    /// The zone of the times that people read; UTC if the machine's zone can't be read.
    let zone: ZoneRules
    private let surroundings = Surroundings.current

    init(json: Bool) {
        let environment = surroundings.environment
        let isTerminal = surroundings.isTerminal && environment["TERM"] != "dumb"
        self.json = json
        isLive = isTerminal && !json
        width = isTerminal ? surroundings.width : nil
        style = Style(isColored: isLive && (environment["NO_COLOR"] ?? "").isEmpty)
        zone = (try? surroundings.zone()) ?? .utc
    }

    /// The current time of the wall clock.
    var now: WallTime { surroundings.now() }

    /// The clock of log lines.
    var logClock: LogClock { LogClock(zone: zone, now: now) }

    /// Writes one line.
    func line(_ text: String = "") throws {
        try write(text + "\n")
    }

    /// Writes text without a line break.
    func write(_ text: String) throws {
        do {
            try surroundings.output(text)
        } catch let error as SystemCallError where !error.isBrokenPipe {
            complain("bgtask: the output is not complete: \(error)")
            throw ExitCode(Self.outputFailed)
        } catch {
            throw Closed()
        }
    }

    /// Writes a message as indented JSON.
    func print(json message: some Encodable) throws {
        try write(String(decoding: try ControlJSON.pretty(message), as: UTF8.self) + "\n")
    }

    /// Writes a message as one line of JSON, for output that is a stream of messages.
    func print(jsonLine message: some Encodable) throws {
        try write(String(decoding: try ControlJSON.line(message), as: UTF8.self) + "\n")
    }

    /// Writes one line to standard error.
    func complain(_ text: String) {
        surroundings.errors(text + "\n")
    }

    /// Reports why the host gave no answer: with `--json` as JSON on standard output, otherwise on standard
    /// error.
    func report(_ error: ControlClientError, tried candidates: [String]) throws {
        let message = Self.message(for: error, tried: candidates)
        if json {
            try print(json: message)
            return
        }
        switch error {
        case .unreachable, .broken, .timedOut, .notSent:
            complain(
                "bgtask: \(Printable.text(message.subject)): \(Printable.text(message.finding)). \(message.remedy)"
            )
        case .refused:
            complain("bgtask: refused: \(Printable.text(message.description))")
        }
    }

    /// The message to show for an error: the host's refusal or, if no host answered, one with the code
    /// `unavailable`, as in Apple's API.
    static func message(for error: ControlClientError, tried candidates: [String]) -> ErrorMessage {
        let finding: String
        let subject: String
        let remedy: String
        switch error {
        case .refused(let message):
            return message
        case .unreachable(let socket, let cause):
            subject = socket
            let others = candidates.filter { $0 != socket }
            let besides = others.isEmpty ? "" : "; also tried \(others.joined(separator: ", "))"
            if cause == SystemCallError.text(of: SystemCallError.accessDenied) {
                finding = "this user may not use the host there (\(cause))\(besides)"
                remedy =
                    "Run bgtask as the user of that host or as root, or let its administrator give your group a "
                    + "part of its powers: control.read, control.submit"
            } else {
                finding = "no host answers there (\(cause))\(besides)"
                remedy =
                    "Start a host: bgtaskd --plugins DIR --manifests DIR --state DIR --socket \(subject)"
            }
        case .broken(let socket, let cause):
            subject = socket
            finding = "the connection to the host broke: \(cause)"
            remedy = "If bgtaskd has ended, start it again. If it still runs, look at its log: bgtask logs"
        case .notSent(let socket, let cause):
            subject = socket
            finding = "the request can't be written as JSON, so it was not sent: \(cause)"
            remedy = "Report this as a fault of bgtask"
        case .timedOut(let socket, let seconds):
            return ErrorMessage(
                SubmissionError(
                    code: .unavailable, subject: socket,
                    finding: "the host did not answer within \(seconds) s",
                    remedy:
                        "It may have accepted the request: look with 'bgtask pending' and 'bgtask launches' "
                        + "before you repeat it. Read the log of bgtaskd, wait longer with --timeout 5m, or "
                        + "restart the host if it does not answer at all"))
        }
        return ErrorMessage(
            SubmissionError(code: .unavailable, subject: subject, finding: finding, remedy: remedy))
    }
}
