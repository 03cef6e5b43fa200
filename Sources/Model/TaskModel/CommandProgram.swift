/// A `command:` of a manifest: a program that runs in a process of its own.
///
/// Documentation/Command.md describes the grammar.
///
/// The words after the first one and the values of ``environment`` may contain `${payload.KEY}`. For each
/// launch, the host puts in the values. A value is always one word or a part of one, never text for a shell.
public struct CommandProgram: Equatable, Hashable, Sendable, Codable {
    /// What runs.
    public enum Action: Equatable, Hashable, Sendable, Codable {
        /// The program's name or path, then its arguments; never empty.
        case run([String])
        /// Lines for `/bin/sh -e`.
        case script(String)
    }

    /// The standard input of the program.
    public enum Input: String, Sendable, Codable, CaseIterable {
        /// Nothing: `/dev/null`.
        case none
        /// The payload as JSON text; nothing if the request has none.
        case payload
    }

    /// The signal that asks the program to stop, by its name without `SIG`.
    public enum StopSignal: String, Sendable, Codable, CaseIterable {
        // The names are those of signal(7).
        case TERM, INT, HUP, QUIT, USR1, USR2

        /// The signal's number on Linux; equal on x86-64 and ARM.
        public var number: UInt64 {
            switch self {
            case .HUP: 1
            case .INT: 2
            case .QUIT: 3
            case .USR1: 10
            case .USR2: 12
            case .TERM: 15
            }
        }
    }

    /// What runs.
    public var action: Action
    /// The variables that the program gets besides those of every task.
    public var environment: [String: String] = [:]
    /// The working directory, as an absolute path or beginning with `~/`; `nil` selects the bundle's data
    /// directory.
    public var directory: String?
    /// The standard input of the program.
    public var input = Input.none
    /// The exit statuses that mean success; never empty.
    public var success: Set<UInt8> = [0]
    /// The signal that the program gets when the launch expires.
    public var stopSignal = StopSignal.TERM

    /// Finds progress in the output: a POSIX extended regular expression with one group (a percentage) or two
    /// (what is done, and the total), of at most 256 bytes; `nil` if the output is not searched.
    public var progressPattern: String?

    /// Makes a command with the defaults of a manifest.
    public init(_ action: Action) { self.action = action }

    /// All words of the command, in order; for a script, the shell's.
    ///
    /// - Parameter identifier: The task's identifier, which is the script's name in the shell's messages.
    /// - Returns: The program's name or path, then its arguments; never empty.
    public func words(for identifier: TaskIdentifier) -> [String] {
        switch action {
        case .run(let words): words
        case .script(let lines): ["/bin/sh", "-e", "-c", lines, identifier.rawValue]
        }
    }

    /// Whether every process of the program's process group gets the signal.
    ///
    /// A shell that is ended by a signal does not pass it on to the program that it waits for.
    public var stopsGroup: Bool {
        if case .script = action { true } else { false }
    }
}

/// A command with the values of a payload, which a task can start.
public struct CommandStart: Equatable, Sendable {
    /// The program's name or path, then its arguments; never empty.
    public var words: [String]
    /// The additional variables, as `NAME=value`, sorted.
    public var environment: [String]
    /// The absolute path of the working directory.
    public var directory: String
    /// Whether the payload is the standard input.
    public var readsPayload: Bool
    /// The exit statuses that mean success, sorted.
    public var success: [UInt8]
    /// The number of the signal that asks the program to stop.
    public var stopSignal: UInt64
    /// Whether every process of the program's process group gets the signal.
    public var stopsGroup: Bool
    /// The pattern that finds progress in the output; `nil` if the output is not searched.
    public var progressPattern: String?

    public init(
        words: [String], environment: [String], directory: String, readsPayload: Bool, success: [UInt8],
        stopSignal: UInt64, stopsGroup: Bool
    ) {
        self.words = words
        self.environment = environment
        self.directory = directory
        self.readsPayload = readsPayload
        self.success = success
        self.stopSignal = stopSignal
        self.stopsGroup = stopsGroup
    }
}

/// What a task runs instead of the handler of a library, with the values of the payload.
public enum LaunchProgram: Equatable, Sendable {
    /// An encoded `call:`; Documentation/RunnerProtocol.md describes the bytes.
    case call([UInt8])
    /// A `command:`.
    case command(CommandStart)
}
