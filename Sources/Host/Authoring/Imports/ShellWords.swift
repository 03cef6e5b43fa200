import LinuxSystem

/// What can be seen of a shell command without running it: its program, and the files that it names.
///
/// Only an approximation, for names and for grants that a person checks: a path that a variable makes is not
/// seen.
struct ShellWords {
    /// The first word that looks like the program that does the work; `nil` if there is none.
    private(set) var program: String?
    /// Absolute paths that exist on this machine, and that the sandbox does not permit to every command.
    private(set) var paths: [String] = []
    /// What will not work as before, as sentences.
    private(set) var notes: [String] = []

    /// Programs that prepare something; the work is in a later command.
    private static let preparing: Set<String> = [
        "cd", "test", "[", "[[", "sleep", "export", "set", "umask", "true", ":", "mkdir",
    ]
    /// Programs that start the program that follows.
    private static let starting: Set<String> = [
        "if", "then", "exec", "env", "nice", "ionice", "flock", "timeout", "sudo", "command", "nohup", "time",
        "chronic", "systemd-cat", "!",
    ]
    /// The directories that every command can read, or that are no files.
    private static let open = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/dev", "/proc", "/sys", "/tmp",
    ]

    init(_ command: String) {
        let separators = Set<Character>(" \t\n;|&<>()\"'`=:,")
        let words = command.split(whereSeparator: separators.contains).map(String.init)
        let closed = words.filter { word in
            word.hasPrefix("/") && word != "/"
                && !Self.open.contains { word == $0 || word.hasPrefix($0 + "/") }
        }.uniqued()
        paths = closed.filter(SmallFile.exists)
        program = command.split { ";|&\n(){}".contains($0) }.lazy.compactMap { Self.program(of: $0) }.first
        if words.contains("sudo") || words.contains("su") {
            notes.append("A job can't become another user, so 'sudo' and 'su' fail.")
        }
        if command.contains(">") {
            // The file may not exist yet.
            let targets = closed.filter { command.contains(">\($0)") || command.contains("> \($0)") }
            notes += targets.map {
                "It writes to \($0), which the sandbox refuses: leave that out, because 'bgtask logs' shows the "
                    + "output, or grant its directory with --write."
            }
        }
    }

    /// The program of one command; `nil` if it only prepares something.
    private static func program(of command: Substring) -> String? {
        var isStarted = false
        for word in command.split(whereSeparator: { " \t\"'`".contains($0) }).map(String.init) {
            if starting.contains(word) {
                isStarted = true
            } else if word.contains("=")
                || (isStarted && (word.hasPrefix("-") || word.first?.isNumber == true))
            {
                continue
            } else {
                return preparing.contains(word) ? nil : word
            }
        }
        return nil
    }
}
