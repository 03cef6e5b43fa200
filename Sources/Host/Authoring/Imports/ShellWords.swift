import LinuxSystem

/// What can be seen of a shell command without running it: its program, and the files that it names.
///
/// Only an approximation, for names and for grants that a person checks: a path that a variable makes is not
/// seen, except for `HOME`.
struct ShellWords {
    /// The first word that looks like the program that does the work; `nil` if there is none.
    private(set) var program: String?
    /// Absolute paths that exist on this machine, and that the sandbox does not permit to every command.
    private(set) var paths: [String] = []
    /// Whether the command names files by the home directory, or by the directory in which cron starts it.
    private(set) var usesHome = false
    /// What will not work as before, as sentences.
    private(set) var notes: [String] = []

    /// Programs that prepare something; the work is in a later command.
    private static let preparing: Set<String> = [
        "cd", "test", "[", "[[", "sleep", "export", "set", "umask", "true", ":", "mkdir",
    ]
    /// Programs that start the program that follows, with the number of words before it that are no options.
    private static let starting: [String: Int] = [
        "if": 0, "then": 0, "exec": 0, "env": 0, "nice": 0, "ionice": 0, "flock": 1, "timeout": 1, "sudo": 0,
        "command": 0, "nohup": 0, "time": 0, "chronic": 0, "systemd-cat": 0, "!": 0,
    ]
    /// Programs that are of no use without a network.
    private static let networked: Set<String> = [
        "curl", "wget", "ssh", "scp", "sftp", "ping", "nc", "ftp", "lftp", "apt", "apt-get", "certbot", "dig",
        "sendmail", "mail", "rclone",
    ]
    /// The directories that every command can read, or that are no files.
    private static let open = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/dev", "/proc", "/sys",
    ]
    /// The directories of files for a short time, which a job has none of.
    private static let temporary = ["/tmp", "/var/tmp", "/run/lock", "/var/lock"]

    /// Looks at a command.
    ///
    /// - Parameters:
    ///   - command: The text for a shell.
    ///   - home: The home directory of the user, where cron starts the command; `nil` if it is not known.
    init(_ command: String, home: String?) {
        let separators = Set<Character>(" \t\n;|&<>()\"'`=:,")
        let written = command.split(whereSeparator: separators.contains).map(String.init)
        program = command.split { ";|&\n(){}".contains($0) }.lazy.compactMap { Self.program(of: $0) }.first
        // What a word means where it is the home directory that it begins with.
        let words = written.map { word in
            guard let home else { return word }
            for beginning in ["~", "$HOME", "${HOME}"]
            where word == beginning || word.hasPrefix(beginning + "/") {
                usesHome = true
                return home + word.dropFirst(beginning.count)
            }
            return word
        }
        if let home, !usesHome { usesHome = Self.isRelative(words, to: home) }
        let closed = words.filter { word in
            word.hasPrefix("/") && word != "/"
                && !Self.open.contains { PathWalk.isInside(word, $0) }
        }.uniqued()
        paths = closed.filter { path in
            SmallFile.exists(path) && !Self.temporary.contains(path)
                && !(usesHome && home.map { PathWalk.isInside(path, $0) } == true)
        }
        noteWhatFails(command, words: zip(written, words).map { ($0, $1) }, closed)
    }

    private mutating func noteWhatFails(
        _ command: String, words: [(written: String, meant: String)], _ closed: [String]
    ) {
        let all = words.map(\.meant)
        if all.contains("sudo") || all.contains("su") {
            notes.append("A job can't become another user, so 'sudo' and 'su' fail.")
        }
        if all.contains("flock") {
            notes.append(
                "Leave 'flock' out: a launch never runs beside an earlier one of its task, and the job can't write "
                    + "the lock file.")
        }
        // The file may not exist yet.
        let targets = words.filter { word in
            closed.contains(word.meant)
                && (command.contains(">\(word.written)") || command.contains("> \(word.written)"))
        }.map(\.meant).uniqued()
        notes += targets.map {
            "It writes to \($0), which the sandbox refuses: leave that out, because 'bgtask logs' shows the "
                + "output, or grant its directory with --write."
        }
        let passing = closed.filter { path in
            Self.temporary.contains(path)
                || Self.temporary.contains { PathWalk.isInside(path, $0) } && !targets.contains(path)
                    && !SmallFile.exists(path)
        }
        if let path = passing.first, !all.contains("flock") {
            notes.append(
                "It names \(path), and a job has no /tmp of the machine: use the directory $TMPDIR, or grant "
                    + "another one with --write.")
        }
        if usesNetwork(command, all) {
            notes.append("It seems to use the network, which needs --internet.")
        }
    }

    private func usesNetwork(_ command: String, _ words: [String]) -> Bool {
        let names = words.map { String($0.split(separator: "/").last ?? "") }
        if names.contains(where: Self.networked.contains) || command.contains("://") { return true }
        if names.contains("git") {
            return names.contains { ["pull", "fetch", "push", "clone"].contains($0) }
        }
        // HOST:PATH
        return names.contains("rsync")
            && command.split(separator: " ").contains { word in
                word.firstIndex(of: ":").map { !word[..<$0].contains("/") && $0 != word.startIndex } ?? false
            }
    }

    /// Whether words name files relative to a directory.
    private static func isRelative(_ words: [String], to directory: String) -> Bool {
        for (index, word) in words.enumerated() {
            if word == "cd" {
                // Without a directory, it goes to the home directory.
                let next = words.dropFirst(index + 1).first
                if next?.hasPrefix("/") != true { return true }
            } else if word == "." || word == ".." {
                return true
            } else if let first = word.first, !"/-$~{\\".contains(first) {
                // Of a pattern, the directory before it.
                let plain = word.prefix { !"*?[$".contains($0) }
                let name =
                    plain.count == word.count
                    ? plain : plain[..<(plain.lastIndex(of: "/") ?? plain.startIndex)]
                if !name.isEmpty, SmallFile.exists("\(directory)/\(name)") { return true }
            }
        }
        return false
    }

    /// The program of one command; `nil` if it only prepares something.
    private static func program(of command: Substring) -> String? {
        var isStarted = false
        // The words to pass over before the program.
        var others = 0
        for word in command.split(whereSeparator: { " \t\"'`".contains($0) }).map(String.init) {
            if let count = starting[word] {
                isStarted = true
                others = count
            } else if word.contains("=")
                || (isStarted && (word.hasPrefix("-") || (others == 0 && word.first?.isNumber == true)))
            {
                continue
            } else if others > 0 {
                others -= 1
            } else {
                return preparing.contains(word) ? nil : word
            }
        }
        return nil
    }
}
