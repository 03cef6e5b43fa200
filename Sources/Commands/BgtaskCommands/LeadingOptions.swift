/// Options that stand before the command: `bgtask --socket PATH pending`.
///
/// ArgumentParser reads the options of a command only behind its name, because `bgtask` itself has none.
enum LeadingOptions {
    private static let withValue = ["--socket", "--timeout"]
    private static let flags = ["--json"]

    /// Puts the options of all commands that stand before the command directly behind its name.
    static func moved(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var options: [String] = []
        while let word = rest.first {
            if flags.contains(word) || withValue.contains(where: { word.hasPrefix($0 + "=") }) {
                options.append(word)
                rest = rest.dropFirst()
            } else if withValue.contains(word), rest.count > 1 {
                options += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else {
                break
            }
        }
        guard !options.isEmpty, let command = rest.first, !command.hasPrefix("-") else { return arguments }
        let words = UnknownCommand.words(ofCommandIn: Array(rest))
        return rest.prefix(words) + options + rest.dropFirst(words)
    }
}
