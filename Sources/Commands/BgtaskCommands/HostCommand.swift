import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

/// The options of every command that connects to the host.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The control socket of the host.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The longest wait for an answer of the host, such as 2m. The default is 30s.",
            valueName: "duration"),
        transform: AnswerTime.init(text:))
    var timeout = AnswerTime.standard

    @Flag(help: .json)
    var json = false

    /// The socket paths to try, in order of preference.
    var candidates: [String] {
        ControlSocketSearch.candidates(option: socket, environment: Surroundings.current.environment)
    }

    /// The socket to connect to: the first candidate that exists, or the first candidate if none exists.
    var socketPath: String { Self.socketPath(among: candidates) }

    static func socketPath(among paths: [String]) -> String {
        paths.first { SmallFile.exists($0) } ?? paths[0]
    }
}

/// The longest wait for an answer of the host.
struct AnswerTime {
    /// The time in whole seconds.
    var seconds: Int

    /// 30 s: twice the time after which the host sends a comment to a client that follows a stream.
    static let standard = AnswerTime(seconds: 30)

    private init(seconds: Int) { self.seconds = seconds }

    init(text: String) throws {
        guard let duration = try? DurationText.parse(text), duration >= .seconds(1),
            duration <= .seconds(3600)
        else {
            throw ValidationError("Not a valid time for --timeout: '\(text)'. Use 1s to 1h.")
        }
        seconds = Int(duration.components.seconds)
    }
}

/// A command that connects to the host.
///
/// It uses the exit statuses of Documentation/CommandLine.md.
protocol HostCommand: AsyncParsableCommand {
    var common: CommonOptions { get }
    /// Does the work of the command. If it throws, the error is shown and determines the exit status.
    func run(asking client: ControlClient, console: Console) async throws
}

extension HostCommand {
    mutating func run() async throws {
        let console = Console(json: common.json)
        let client = ControlClient(socketPath: common.socketPath, timeout: common.timeout.seconds)
        do {
            try await run(asking: client, console: console)
        } catch let error as ControlClientError {
            try console.report(await client.advised(error), tried: common.candidates)
            throw ExitCode(error.exitCode)
        } catch is Console.Closed {
            // The reader of the output, such as `head`, has closed the pipe.
            throw ExitCode.success
        }
    }
}

extension ControlClientError {
    /// The exit status: 3 if no host answers or the connection breaks, 4 if the host refuses.
    var exitCode: Int32 {
        switch self {
        case .unreachable, .broken, .timedOut, .notSent: 3
        case .refused: 4
        }
    }
}
