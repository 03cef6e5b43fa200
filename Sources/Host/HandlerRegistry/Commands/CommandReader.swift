import StrictFiles
import TaskModel

/// The positions of a command's parts in the manifest, for messages.
struct CommandPlaces {
    /// The position of the program, or of the script.
    var program: Place
    /// The position of `directory:`; `nil` if there is none.
    var directory: Place?
}

/// Reads a `command:`: the grammar of Documentation/Command.md.
struct CommandReader {
    /// The payload keys that the task declares, with their types.
    let payload: [String: PayloadType]
    let problems: ProblemList

    /// The greatest number of words; our choice, far more than a person writes.
    static let maximumWords = 256

    /// Reads a `command:`; returns `nil` if it can't be used, after a problem has been reported.
    func command(_ node: YAMLNode) -> (program: CommandProgram, places: CommandPlaces)? {
        let keys = ["run", "script", "environment", "directory", "input", "success", "stop", "progress"]
        guard let fields = Fields(node, "command", keys: keys, problems) else { return nil }
        guard let actionNode = fields["run"] ?? fields["script"] else {
            problems.error(
                node.place, "command has neither 'run' nor 'script'",
                "Add one: run: [/usr/bin/rsync, -a, /srv/a, /srv/b], or script: echo hello")
            return nil
        }
        if fields["run"] != nil, let script = fields["script"] {
            problems.error(script.place, "'script' can't be used with 'run'", "Remove one of them")
        }
        let action = fields["run"].map(run) ?? script(actionNode)
        // The other keys are read even if this one is wrong, so that all problems are reported at once.
        var program = CommandProgram(action ?? .script(""))
        program.environment = fields["environment"].map(environment) ?? [:]
        program.directory = fields["directory"].flatMap(directory)
        program.input = fields["input"]?.word("input", as: CommandProgram.Input.self, problems) ?? .none
        program.success = fields["success"].flatMap(success) ?? [0]
        program.stopSignal =
            fields["stop"]?.word("stop", as: CommandProgram.StopSignal.self, problems) ?? .TERM
        program.progressPattern = fields["progress"].flatMap(ProgressPattern(problems: problems).pattern)
        guard action != nil else { return nil }
        return (program, CommandPlaces(program: actionNode.place, directory: fields["directory"]?.place))
    }

    // MARK: What runs

    private func run(_ node: YAMLNode) -> CommandProgram.Action? {
        if case .scalar(let text, _) = node.value {
            problems.error(
                node.place, "run must be a list of words, found text: '\(text.shortened)'",
                "Write run: [PROGRAM, ARGUMENT], or give a line for the shell: script: \(text.shortened)")
            return nil
        }
        guard let items = node.items("run", problems) else { return nil }
        guard let first = items.first, items.count <= Self.maximumWords else {
            problems.error(
                node.place,
                items.isEmpty
                    ? "run is empty" : "run has \(items.count) words; the limit is \(Self.maximumWords)",
                items.isEmpty ? "Name a program" : "Put the words into a file that the program reads")
            return nil
        }
        let words = items.map { $0.plainText("a word of run", problems) }
        for (word, item) in zip(words, items).dropFirst() {
            guard let word else { continue }
            PayloadText.check(word, in: payload, allowing: Self.types, at: item.place, problems)
            noteTilde(word, item.place)
        }
        guard let program = words[0], checkProgram(program, first.place), !words.contains(nil) else {
            return nil
        }
        return .run(words.compactMap(\.self))
    }

    private func checkProgram(_ program: String, _ place: Place) -> Bool {
        let isPath = program.hasPrefix("/") || program.hasPrefix("~/")
        let isName = !program.isEmpty && !program.contains("/") && program != "." && program != ".."
        let finding: String
        if PayloadText.isTemplate(program) {
            finding = "the program can't come from the payload"
        } else if !isPath && !isName {
            finding = "not a program: '\(program.shortened)'"
        } else if isPath && program.split(separator: "/").contains("..") {
            finding = "the program's path contains '..'"
        } else {
            return true
        }
        problems.error(
            place, finding,
            "Give a path that begins with '/' or '~/', or the name of a program in "
                + CommandCheck.searchPath.joined(separator: ", "))
        return false
    }

    /// Warns of a text in which only a shell would replace '~'.
    private func noteTilde(_ text: String, _ place: Place) {
        guard text == "~" || text.hasPrefix("~/") else { return }
        problems.warning(
            place, "no shell replaces '~' here, so the program gets '\(text.shortened)' as it is",
            "Write the whole path, or use a script: in it, \"$HOME\" is the data directory of the job")
    }

    private func script(_ node: YAMLNode) -> CommandProgram.Action? {
        guard let text = node.plainText("script", problems) else { return nil }
        guard text.contains(where: { !$0.isWhitespace }) else {
            problems.error(node.place, "script is empty", "Write lines for /bin/sh")
            return nil
        }
        if text.hasPrefix("#!") {
            problems.error(
                node.place, "a script is run by /bin/sh, and this one names another interpreter",
                "Remove the line with '#!', or put the script into a file and name that: run: [/path/to/file]"
            )
            return nil
        }
        if text.contains("${payload.") {
            problems.error(
                node.place, "a script can't contain ${payload.KEY}, which would become commands of the shell",
                "Use a variable, in quotation marks: environment: {KEY: \"${payload.KEY}\"}, then \"$KEY\"")
            return nil
        }
        return .script(text)
    }

    // MARK: Its surroundings

    private static let types: Set<PayloadType> = Set(PayloadType.allCases)

    private func environment(_ node: YAMLNode) -> [String: String] {
        guard let fields = Fields(node, "environment", keys: nil, problems) else { return [:] }
        var values: [String: String] = [:]
        for (name, place, value) in fields.all {
            guard EnvironmentName.isName(name) else {
                problems.error(
                    place, "not a valid variable name: '\(name.shortened)'",
                    "Use a letter or _, then letters, digits and _")
                continue
            }
            if name.hasPrefix("BGTASK_") {
                problems.error(place, "the host sets \(name) itself", "Use another name")
                continue
            }
            guard let text = value.plainText("the value of \(name)", problems) else { continue }
            PayloadText.check(text, in: payload, allowing: Self.types, at: value.place, problems)
            noteTilde(text, value.place)
            values[name] = text
        }
        return values
    }

    private func directory(_ node: YAMLNode) -> String? {
        guard let path = node.text("directory", problems) else { return nil }
        guard path.hasPrefix("/") || path.hasPrefix("~/"), !path.split(separator: "/").contains(".."),
            !PayloadText.isTemplate(path)
        else {
            problems.error(
                node.place, "directory must be an absolute path, found '\(path.shortened)'",
                "Begin it with '/' or '~/', and do not use '..' or a value of the payload")
            return nil
        }
        return path
    }

    private func success(_ node: YAMLNode) -> Set<UInt8>? {
        guard let items = node.items("success", problems) else { return nil }
        if items.isEmpty { problems.error(node.place, "success is empty", "Name exit statuses, such as [0]") }
        let codes = items.compactMap { $0.integer("an exit status", in: 0...255, problems) }
        return Set(codes.map { UInt8($0) })
    }
}
