import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

/// Options of every command that asks the host.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The control socket of the host.", valueName: "path"))
    var socket: String?

    @Flag(help: "Print JSON. Its keys never change, and are in alphabetical order.")
    var json = false

    /// The places that are looked at, best first.
    var candidates: [String] {
        ControlSocketSearch.candidates(option: socket, environment: Surroundings.current.environment)
    }

    /// The socket that is asked: the first that exists, else the first.
    var socketPath: String {
        let paths = candidates
        return paths.first { SmallFile.exists($0) } ?? paths[0]
    }
}

/// A command that asks the host, with the project's exit codes.
protocol HostCommand: AsyncParsableCommand {
    var common: CommonOptions { get }
    /// Does the work; what it throws is shown and becomes the exit code.
    func run(asking client: ControlClient, console: Console) async throws
}

extension HostCommand {
    mutating func run() async throws {
        let console = Console(json: common.json)
        do {
            try await run(asking: ControlClient(socketPath: common.socketPath), console: console)
        } catch let error as ControlClientError {
            try console.report(error, tried: common.candidates)
            throw ExitCode(error.exitCode)
        } catch is Console.Closed {
            // The reader is gone, as `head` is when it has read enough.
            throw ExitCode.success
        }
    }
}

extension ControlClientError {
    /// 3 for no host, or one that broke off; 4 for a refusal.
    var exitCode: Int32 {
        switch self {
        case .unreachable, .broken: 3
        case .refused: 4
        }
    }
}
