import ArgumentParser
import ControlWire
import Foundation
import LinuxSystem

/// The command line `bgtask` as a function: arguments and surroundings in, text and an exit status out.
public enum CommandLineTool {
    /// Runs the command of this process's arguments and ends the process.
    public static func main() async -> Never {
        Terminal.ignoreBrokenPipes()
        exit(await run(Array(CommandLine.arguments.dropFirst()), in: .ofProcess))
    }

    /// Runs one command.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - surroundings: What the command reads, and where it writes.
    /// - Returns: The exit status, as Documentation/CommandLine.md lists it.
    public static func run(_ arguments: [String], in surroundings: Surroundings) async -> Int32 {
        await Surroundings.$current.withValue(surroundings) {
            do {
                try UnknownCommand.check(arguments)
                var command = try Bgtask.parseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
                return 0
            } catch {
                return end(with: error, of: arguments, in: surroundings)
            }
        }
    }

    /// Writes what the error says, and gives its exit status: 2 for a wrong command line, where
    /// ArgumentParser has 64.
    private static func end(
        with error: any Error, of arguments: [String], in surroundings: Surroundings
    ) -> Int32 {
        let code = Bgtask.exitCode(for: error)
        if code == .validationFailure, arguments.prefix(while: { $0 != "--" }).contains("--json") {
            let message = ErrorMessage(
                .usage, subject: "bgtask " + arguments.joined(separator: " "),
                finding: (error as? ValidationError)?.message ?? Bgtask.message(for: error),
                remedy: UnknownCommand.help(for: arguments))
            if let text = try? ControlJSON.pretty(message) {
                try? surroundings.output(String(decoding: text, as: UTF8.self) + "\n")
            }
            return 2
        }
        // What a command finds wrong when it runs comes without its name; the parser would show the usage of
        // bgtask itself.
        let text =
            (error as? ValidationError).map { UnknownCommand.text($0.message, for: arguments) }
            ?? Bgtask.fullMessage(for: error)
        if !text.isEmpty {
            if code.isSuccess {
                // Help and version; a reader that is gone has read enough.
                try? surroundings.output(text + "\n")
            } else {
                surroundings.errors(text + "\n")
            }
        }
        return code == .validationFailure ? 2 : code.rawValue
    }
}
