import ArgumentParser
import ControlWire
import LinuxSystem

/// The command line of `bgtask` as a function: it takes arguments and surroundings, and returns an exit
/// status.
public enum CommandLineTool {
    /// Runs the command that this process's arguments name, then ends the process.
    public static func main() -> Never {
        StandardStreams.openMissing()
        Terminal.ignoreBrokenPipes()
        let arguments = LeadingOptions.moved(Array(CommandLine.arguments.dropFirst()))
        let surroundings = Surroundings.current
        if let number = argumentBeyondUTF8(), arguments.first != "---completion" {
            let error = ValidationError(
                "The argument \(number) is not valid UTF-8: \(arguments[number - 1]). The host can't store it "
                    + "unchanged. Give a name in UTF-8, for example that of a link.")
            exit(end(with: error, of: arguments, in: surroundings))
        }
        switch begin(arguments, in: surroundings) {
        case .ended(let status): exit(status)
        case .completes:
            Task.detached { exit(await complete(arguments, in: surroundings)) }
            BlockingThread.park()
        case .waits(let command):
            Task.detached { exit(await finish(command, of: arguments, in: surroundings)) }
            BlockingThread.park()
        }
    }

    /// The number of the first argument that Swift's library has changed, because it is not UTF-8.
    private static func argumentBeyondUTF8() -> Int? {
        (1..<max(1, Int(CommandLine.argc))).first { number in
            CommandLine.unsafeArgv[number].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    /// Runs one command.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the program's name.
    ///   - surroundings: What the command reads, and where it writes.
    /// - Returns: The exit status, as Documentation/CommandLine.md lists it.
    public static func run(_ arguments: [String], in surroundings: Surroundings) async -> Int32 {
        let arguments = LeadingOptions.moved(arguments)
        return switch begin(arguments, in: surroundings) {
        case .ended(let status): status
        case .completes: await complete(arguments, in: surroundings)
        case .waits(let command): await finish(command, of: arguments, in: surroundings)
        }
    }

    /// The state of a command after the part that needs no waiting.
    private enum Progress {
        case ended(status: Int32)
        /// A completion script of a shell asks for words, which may come from the host.
        case completes
        /// The command waits for the host, or for a file to change.
        case waits(Waiting)
    }

    /// Passes a command to the Swift task that runs it.
    ///
    /// Unchecked, because only that task uses the command.
    private struct Waiting: @unchecked Sendable {
        var command: any AsyncParsableCommand
    }

    /// Parses the arguments, and runs the command if it need not wait.
    private static func begin(_ arguments: [String], in surroundings: Surroundings) -> Progress {
        if arguments.first == "---completion" { return .completes }
        return Surroundings.$current.withValue(surroundings) {
            do {
                try UnknownCommand.check(arguments)
                var command = try Bgtask.parseAsRoot(NetworkArgument.separating(arguments))
                if let command = command as? any AsyncParsableCommand {
                    return .waits(Waiting(command: command))
                }
                try command.run()
                return .ended(status: 0)
            } catch {
                return .ended(status: end(with: error, of: arguments, in: surroundings))
            }
        }
    }

    /// Writes the words that complete a command line; ArgumentParser throws them as a message.
    private static func complete(_ arguments: [String], in surroundings: Surroundings) async -> Int32 {
        await Surroundings.$current.withValue(surroundings) {
            do {
                _ = try await Bgtask.asyncParseAsRoot(arguments)
                return 0
            } catch {
                return end(with: error, of: arguments, in: surroundings)
            }
        }
    }

    /// Runs a command that may wait for the host or for a file.
    private static func finish(
        _ waiting: Waiting, of arguments: [String], in surroundings: Surroundings
    ) async -> Int32 {
        await Surroundings.$current.withValue(surroundings) {
            do {
                var command = waiting.command
                try await command.run()
                return 0
            } catch {
                return end(with: error, of: arguments, in: surroundings)
            }
        }
    }

    private static func exit(_ status: Int32) -> Never { Bgtask.exit(withError: ExitCode(status)) }

    /// Writes the message of the error and returns its exit status.
    ///
    /// A wrong command line gives 2; ArgumentParser itself would give 64.
    private static func end(
        with error: any Error, of arguments: [String], in surroundings: Surroundings
    ) -> Int32 {
        let code = Bgtask.exitCode(for: error)
        let error = NegativeValue.named(error, in: arguments)
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
        // The usage is that of the command that found the mistake. ArgumentParser would show the usage of
        // `bgtask` itself, because the error does not name the command.
        let text =
            (error as? ValidationError).map { UnknownCommand.text($0.message, for: arguments) }
            ?? Bgtask.fullMessage(for: error)
        if !text.isEmpty {
            if code.isSuccess {
                // The text is help or a version. If its reader has closed the pipe, the reader has all that
                // it needs.
                do {
                    try surroundings.output(text + "\n")
                } catch let error as SystemCallError where !error.isBrokenPipe {
                    surroundings.errors("bgtask: the output is not complete: \(error)\n")
                    return Console.outputFailed
                } catch {}
            } else {
                surroundings.errors(text + "\n")
            }
        }
        return code == .validationFailure ? 2 : code.rawValue
    }
}
