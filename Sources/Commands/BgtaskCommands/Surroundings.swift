import FoundationEssentials
import LinuxSystem
public import TaskModel

/// What a command reads besides its arguments, and where it writes: the process's own, or a test's values.
public struct Surroundings: Sendable {
    /// Environment variables.
    public var environment: [String: String] = [:]
    /// Whether standard output is a terminal.
    public var isTerminal = false
    /// Columns of that terminal; `nil` where they are not known.
    public var width: Int?
    /// The wall clock.
    public var now: @Sendable () -> WallTime
    /// Writes to standard output; throws if the reader is gone.
    public var output: @Sendable (String) throws -> Void
    /// Writes to standard error.
    public var errors: @Sendable (String) -> Void
    /// Reads standard input to its end.
    public var input: @Sendable () throws -> [UInt8] = { [] }

    /// Surroundings without environment, terminal and input.
    public init(
        now: @escaping @Sendable () -> WallTime, output: @escaping @Sendable (String) throws -> Void,
        errors: @escaping @Sendable (String) -> Void
    ) {
        (self.now, self.output, self.errors) = (now, output, errors)
    }

    /// Those of the running command.
    @TaskLocal static var current = ofProcess

    /// Those of this process.
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
