import Calendars
import FoundationEssentials
import LinuxSystem
public import TaskModel

/// The inputs of a command besides its arguments, and its outputs: those of the process, or a test's own.
public struct Surroundings: Sendable {
    /// Environment variables.
    public var environment: [String: String] = [:]
    /// Whether standard output is a terminal.
    public var isTerminal = false
    /// The terminal's width in columns; `nil` if it is not known.
    public var width: Int?
    /// Returns the time of the wall clock.
    public var now: @Sendable () -> WallTime
    /// Writes to standard output; throws if the reader has closed it.
    public var output: @Sendable (String) throws -> Void
    /// Writes to standard error.
    public var errors: @Sendable (String) -> Void
    /// Reads standard input to its end.
    public var input: @Sendable () throws -> [UInt8] = { [] }

    /// Creates surroundings with an empty environment, no terminal and empty input.
    public init(
        now: @escaping @Sendable () -> WallTime, output: @escaping @Sendable (String) throws -> Void,
        errors: @escaping @Sendable (String) -> Void
    ) {
        (self.now, self.output, self.errors) = (now, output, errors)
    }

    /// The time zone of the user: that of `TZ`, or else that of the machine.
    func zone() throws(ZoneError) -> ZoneRules {
        try ZoneDatabase.machine(variable: environment["TZ"]).zone(named: nil)
    }

    /// The surroundings of the running command.
    @TaskLocal static var current = ofProcess

    /// The surroundings of this process.
    static var ofProcess: Self {
        var surroundings = Self(
            now: { SystemClocks().now().wall },
            output: { try StandardStreams.write($0) },
            errors: { ProcessFacts.writeToStandardError($0) })
        surroundings.environment = ProcessInfo.processInfo.environment
        surroundings.isTerminal = Terminal.isStandardOutput
        surroundings.width = Terminal.width
        surroundings.input = { try StandardStreams.read() }
        return surroundings
    }
}
