import HandlerRegistry
import LinuxSystem

/// What a service of systemd runs, as a program or a shell script.
struct UnitCommands {
    /// What the job runs; `nil` if the service starts nothing.
    private(set) var action: CommandManifest.Action?
    /// Variables of its environment.
    private(set) var environment: [String: String] = [:]
    /// The working directory; `nil` if the service names none.
    private(set) var directory: String?
    /// Paths to read.
    private(set) var read: [String] = []
    /// Paths to write.
    private(set) var write: [String] = []
    /// What is not kept, as sentences.
    private(set) var notes: [String] = []

    private let unit: UnitName
    private let home: String?

    /// Reads the commands of a service.
    ///
    /// - Parameters:
    ///   - service: The unit.
    ///   - unit: Its name.
    ///   - home: The home directory of the user whose systemd has the unit; `nil` if it is not known.
    init(_ service: UnitFile, unit: UnitName, home: String?) {
        (self.unit, self.home) = (unit, home)
        let files = service.all("Service", "EnvironmentFile").map { environmentFile($0) }
        let before = service.all("Service", "ExecStartPre"), after = service.all("Service", "ExecStartPost")
        let main = service.all("Service", "ExecStart")
        let lines = (before + main + after).map { line($0) }
        guard !main.isEmpty, !lines.contains(where: { $0 == nil }) else { return }
        let known = lines.compactMap(\.self)
        if files.isEmpty, known.count == 1, let only = known.first, only.isPlain {
            action = .run(only.words)
        } else {
            // systemd does not replace * and ? in a variable.
            let reader = files.isEmpty ? [] : [Self.environmentReader]
            action = .script((["set -f"] + reader + files + known.map(\.shell)).joined(separator: "\n"))
        }
        for line in known { readPaths(of: line) }
        for text in service.all("Service", "Environment") {
            for word in UnitFile.words(text) ?? [] {
                guard let equals = word.firstIndex(of: "="), EnvironmentName.isName(String(word[..<equals]))
                else {
                    notes.append("'\(word)' is not a variable, so it is left out.")
                    continue
                }
                environment[String(word[..<equals])] = expanded(String(word[word.index(after: equals)...]))
            }
        }
        if let path = service.last("Service", "WorkingDirectory")?.drop(while: { $0 == "-" }) {
            if path.hasPrefix("/") { directory = expanded(String(path)) }
            if path == "~" { directory = home }
        }
        write = service.all("Service", "ReadWritePaths").flatMap(paths)
        read = (read + service.all("Service", "ReadOnlyPaths").flatMap(paths)).uniqued()
            .filter { !write.contains($0) && $0 != directory }
    }

    private func paths(_ text: String) -> [String] {
        (UnitFile.words(text) ?? []).map { String($0.drop { "-+".contains($0) }) }.filter {
            $0.hasPrefix("/")
        }
    }

    private mutating func readPaths(of line: Line) {
        let scanned = ShellWords(line.words.joined(separator: " "), home: nil)
        read += scanned.paths
        notes += scanned.notes
    }

    // MARK: Variables from files

    /// A function of the shell that sets the variables of a file as systemd does: the value is the rest of
    /// the line, without quotation marks around it, and is not expanded.
    private static let environmentReader = #"""
        environment_file() {
            while IFS= read -r line || [ -n "$line" ]; do
                case $line in '#'* | ';'*) continue ;; [A-Za-z_]*=*) ;; *) continue ;; esac
                value=${line#*=}
                case $value in '"'*'"' | "'"*"'") value=${value#?} value=${value%?} ;; esac
                export "${line%%=*}=$value"
            done < "$1"
        }
        """#

    /// The line of a script that reads a file of variables at each launch.
    private mutating func environmentFile(_ text: String) -> String {
        let isOptional = text.hasPrefix("-")
        let path = expanded(String(text.drop { $0 == "-" }))
        if !isOptional || SmallFile.exists(path) { read.append(path) }
        let note =
            "The job reads \(path) at each launch, so the job's user must be able to. Continued lines and "
            + "escapes of that file are not kept."
        if !notes.contains(note) { notes.append(note) }
        let line = "environment_file \(Line.quoted(path))"
        return isOptional ? "[ ! -r \(Line.quoted(path)) ] || \(line)" : line
    }

    // MARK: Lines

    /// One command line.
    struct Line {
        let words: [String]
        /// Whether a failure counts.
        let mayFail: Bool

        /// Whether the words mean the same without a shell.
        var isPlain: Bool { !mayFail && !words.contains { $0.contains("$") } }

        /// The line for `/bin/sh`.
        ///
        /// systemd splits a word `$NAME` into words as the shell does, and keeps `${NAME}` as one word.
        var shell: String {
            words.map(Self.quoted).joined(separator: " ") + (mayFail ? " || :" : "")
        }

        fileprivate static func quoted(_ word: String) -> String {
            if word.hasPrefix("$"), EnvironmentName.isName(String(word.dropFirst())) { return word }
            let isSafe = word.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "_-+./:=@%,".contains($0))
            }
            if isSafe, !word.isEmpty { return word }
            // systemd replaces $$ and ${NAME} in a word, and passes any other $ on as it is.
            var text = "\""
            var rest = word[...]
            while let character = rest.popFirst() {
                if character == "$", rest.first == "$" {
                    rest.removeFirst()
                    text += "\\$"
                } else if character == "$", rest.first == "{", let end = rest.firstIndex(of: "}"),
                    EnvironmentName.isName(String(rest[..<end].dropFirst()))
                {
                    text += "$" + rest[...end]
                    rest = rest[rest.index(after: end)...]
                } else {
                    if "\"`\\$".contains(character) { text += "\\" }
                    text.append(character)
                }
            }
            return text + "\""
        }
    }

    private mutating func line(_ text: String) -> Line? {
        var rest = text[...]
        var mayFail = false, hasOtherName = false
        while let first = rest.first, "-@:+!|".contains(first) {
            rest.removeFirst()
            switch first {
            case "-": mayFail = true
            case "+", "!": notes.append("'\(first)' before a command (other rights) is not kept.")
            case "@":
                hasOtherName = true
                notes.append("'@' before a command (another name for the process) is not kept.")
            case ":": notes.append("':' before a command (variables as they are) is not kept.")
            default: break
            }
        }
        guard var words = UnitFile.words(String(rest)), !words.isEmpty else { return nil }
        // The second word is the name.
        if hasOtherName, words.count > 1 { words.remove(at: 1) }
        if rest.contains(" ; ") { notes.append("';' between commands is not kept: write several lines.") }
        return Line(words: words.map { expanded($0) }, mayFail: mayFail)
    }

    /// A text with the specifiers of systemd that depend only on the unit and its user.
    private mutating func expanded(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "%", let specifier = rest.popFirst() else {
                result.append(character)
                continue
            }
            switch specifier {
            case "%": result.append("%")
            case "n": result += unit.file
            case "N": result += unit.base
            case "p": result += unit.prefix
            case "i": result += unit.instance ?? ""
            case "I": result += UnitName.unescaped(unit.instance ?? "")
            case "h" where home != nil:
                let path = home ?? ""
                result += path
                let note =
                    "'%h' is written as \(path), where a job can't write without a grant; its own HOME is the "
                    + "data directory of its bundle."
                if !notes.contains(note) { notes.append(note) }
            default:
                result += "%\(specifier)"
                notes.append("'%\(specifier)' is not known outside systemd: write the value.")
            }
        }
        return result
    }
}
