import ArgumentParser
import StrictFiles

/// Finds words that are in the place of a command's name.
///
/// ArgumentParser reports such a word as an unexpected argument. A user who mistypes a command needs the most
/// similar name instead.
enum UnknownCommand {
    /// Refuses a word that is not a command.
    ///
    /// - Throws: `ValidationError`, with the most similar name.
    static func check(_ arguments: [String]) throws {
        let (command, path, rest) = walk(arguments)
        let group = path.isEmpty ? "" : path + " "
        let names = command.configuration.subcommands.map(name)
        guard !names.isEmpty, let word = rest.first, !word.hasPrefix("-"), word != "help" else { return }
        // The default subcommand may accept the word: `bgtask config KEY` means `bgtask config show KEY`.
        let standard = command.configuration.defaultSubcommand
        if takesArguments.contains(where: { $0 == standard }) { return }
        let advice = Nearest.match(word, in: names).map { "Did you mean '\($0)'?" }
        throw ValidationError(
            "Unknown command '\(group)\(word)'. " + (advice ?? "List the commands: bgtask \(group)--help"))
    }

    /// A reference to the help that fits the arguments: `See 'bgtask help submit'`.
    static func help(for arguments: [String]) -> String {
        let path = walk(arguments).path
        return path.isEmpty ? "See 'bgtask --help'" : "See 'bgtask help \(path)'"
    }

    /// A mistake in the arguments with the usage of the command that they name, as the parser writes it.
    static func text(_ mistake: String, for arguments: [String]) -> String {
        let (command, path, _) = walk(arguments)
        let name = path.isEmpty ? "bgtask" : "bgtask \(path)"
        return """
            Error: \(mistake)
            Usage: \(Bgtask.usageString(for: command))
              See '\(name) --help' for more information.
            """
    }

    /// How many of the first words name the command; at least 1.
    static func words(ofCommandIn arguments: [String]) -> Int {
        max(1, arguments.count - walk(arguments).rest.count)
    }

    /// Subcommands that run without their name and have arguments.
    private static let takesArguments: [any ParsableCommand.Type] = [ConfigCommand.Show.self]

    /// Follows the names of commands as long as they are valid.
    private static func walk(
        _ arguments: [String]
    ) -> (command: any ParsableCommand.Type, path: String, rest: ArraySlice<String>) {
        var command: any ParsableCommand.Type = Bgtask.self
        var path: [String] = []
        var rest = arguments[...]
        if rest.first == "help" { rest = rest.dropFirst() }
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { name($0) == word })
        {
            command = next
            path.append(word)
            rest = rest.dropFirst()
        }
        return (command, path.joined(separator: " "), rest)
    }

    private static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }
}
