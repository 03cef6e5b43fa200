import LinuxSystem
import StrictFiles
import TaskModel

/// Fills the values of a payload into a command.
struct CommandResolver {
    /// The size limit of all words and variables together, in bytes: they must fit in one frame of the runner
    /// protocol (Documentation/RunnerProtocol.md).
    static let maximumSize = 60_000
    /// The directories of programs that every command may read and execute.
    private static let usualPrograms = [
        "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec", "/lib",
        "/usr/lib", "/usr/share",
    ]

    let subject: TaskIdentifier
    let payload: Payload
    /// The paths that contain values of the payload.
    private(set) var paths: [PayloadPath] = []

    init(subject: TaskIdentifier, payload: Payload) {
        self.subject = subject
        self.payload = payload
    }

    /// Fills in the values.
    ///
    /// - Parameters:
    ///   - program: The command of the manifest.
    ///   - dataDirectory: The bundle's data directory; `nil` if it does not exist yet.
    /// - Returns: What the task starts.
    /// - Throws: ``SubmissionError`` with the code `invalidRequest`.
    mutating func resolve(
        _ program: CommandProgram, dataDirectory: String?
    ) throws(SubmissionError) -> CommandStart {
        var words: [String] = []
        for (index, word) in program.words(for: subject).enumerated() {
            // Text of a script is for the shell.
            let isFilled = if case .run = program.action { index > 0 } else { false }
            words.append(isFilled ? try fill(word) : word)
        }
        words[0] = try HomePath.expand(words[0], subject.rawValue)
        var environment: [String] = []
        for (name, value) in program.environment.sorted(by: { $0.key < $1.key }) {
            environment.append("\(name)=\(try fill(value))")
        }
        let size = (words + environment).reduce(0) { $0 + $1.utf8.count + 8 }
        guard size <= Self.maximumSize else {
            throw SubmissionError(
                code: .invalidRequest, subject: subject.rawValue,
                finding: "the command has \(size) bytes with this payload; the limit is \(Self.maximumSize)",
                remedy: "Submit a path instead of contents, or read the payload: command: {input: payload}")
        }
        var start = CommandStart(
            words: words, environment: environment,
            directory: try directory(of: program) ?? dataDirectory ?? "/",
            readsPayload: program.input == .payload, success: program.success.sorted(),
            stopSignal: program.stopSignal.number, stopsGroup: program.stopsGroup)
        start.progressPattern = program.progressPattern
        return start
    }

    private func directory(of program: CommandProgram) throws(SubmissionError) -> String? {
        guard let directory = program.directory else { return nil }
        return try HomePath.expand(directory, subject.rawValue)
    }

    /// The real path of the program, which the sandbox must permit; `nil` if the program is in one of the
    /// directories with the programs of the system, which every command may use.
    static func grant(for start: CommandStart) -> String? {
        guard let path = start.words.first, path.hasPrefix("/"), let real = try? PathWalk(path).realPath
        else { return nil }
        return isUsualProgram(real) ? nil : real
    }

    /// Whether a real path is in one of the directories that every command may use.
    static func isUsualProgram(_ path: String) -> Bool {
        usualPrograms.contains { PathWalk.isInside(path, $0) }
    }

    private mutating func fill(_ text: String) throws(SubmissionError) -> String {
        guard PayloadText.isTemplate(text) else { return text }
        let filled = try payload.fill(text)
        let path = PayloadPath(template: text, path: filled, access: .any)
        if path.isPath { paths.append(path) }
        return filled
    }
}
