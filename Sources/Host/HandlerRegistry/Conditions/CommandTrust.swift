import LinuxSystem
import StrictFiles

/// Decides whether a host that runs as root may run a command: root alone must be able to change everything
/// that the command executes, as with plugins.
///
/// A command executes its program, the interpreter that the first line of a script names, and, if the program
/// is an interpreter or starts other programs, its script and each argument that is a file. Programs in ELF
/// format also load libraries, which ``LoaderTrust`` examines. Other files, which a program only reads, are
/// not checked.
enum CommandTrust {
    /// Programs that execute files which they get as arguments, by the beginnings of their names.
    private static let interpreters = [
        "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "busybox",
        "awk", "gawk", "mawk", "lua", "make", "node", "perl", "php", "python", "ruby", "tclsh",
    ]
    /// Programs that start the program that they get as an argument, also one that is found by its name.
    private static let starters = [
        "chrt", "env", "flock", "ionice", "nice", "nohup", "setpriv", "setsid", "stdbuf", "sudo", "taskset",
        "timeout", "unshare", "xargs",
    ]
    /// Where `env` looks for programs: the path of a command's environment.
    private static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]
    /// How often in a row an interpreter can be a script itself: the limit of Linux; then exec fails with
    /// ELOOP.
    private static let mostInterpreters = 5

    /// Checks everything that a command executes.
    ///
    /// - Parameter arguments: The path of the program, then its arguments.
    /// - Returns: The problem; `nil` if the command can be trusted, or if the host is not root.
    /// - Throws: The system call's error if a program can't be found.
    static func problem(with arguments: [String]) throws(SystemCallError) -> FileTrust.Problem? {
        guard FileContents.isRoot, let program = arguments.first else { return nil }
        var trust = LoaderTrust()
        if let problem = try self.problem(with: program, called: "the program", depth: 0, &trust) {
            return problem
        }
        return try problem(withArguments: arguments.dropFirst(), of: program, depth: 0, &trust)
    }

    /// Checks the files among the arguments of an interpreter, also as the value of an option or of a
    /// variable.
    ///
    /// The first argument that is no option is the script or the program, so it counts also if it does not
    /// exist yet. An argument with spaces can be the text of a script, as after `sh -c`.
    private static func problem(
        withArguments arguments: ArraySlice<String>, of program: String, depth: Int,
        _ trust: inout LoaderTrust
    ) throws(SystemCallError) -> FileTrust.Problem? {
        let names = [program, (try? DirectoryTree.realPath(of: program)) ?? program]
        let starts = names.contains { isNamed($0, starters) }
        guard starts || names.contains(where: { isNamed($0, interpreters) || isLoader($0) }) else {
            return nil
        }
        // 'env -S' splits its argument.
        let words =
            starts
            ? arguments.flatMap { $0.split { $0 == " " || $0 == "\t" }.map(String.init) } : Array(arguments)
        let script = words.first { !$0.hasPrefix("-") && !$0.contains("=") }.flatMap { word in
            word.contains("/") && !word.contains(" ") && !names.contains { isNamed($0, ["flock"]) }
                ? word : nil
        }
        for word in words {
            var paths: [String] = []
            if word.hasPrefix("/") {
                paths = [word]
            } else if word == script {
                // The command runs in '/'.
                paths = ["/\(word)"]
            } else if let slash = word.firstIndex(of: "/"), word.hasPrefix("-") || word.contains("=") {
                paths = word[slash...].split(separator: ":").map(String.init)
            } else if starts, !word.contains("="), !word.hasPrefix("-") {
                paths = searchPath.map { "\($0)/\(word)" }.filter(SmallFile.exists)
            }
            for path in paths {
                guard word == script || SmallFile.exists(path) && !DirectoryTree.isDirectory(path) else {
                    continue
                }
                let name = "'\(path)', which the program may execute"
                if let problem = try problem(with: path, called: name, depth: depth, &trust) {
                    return problem
                }
            }
        }
        return nil
    }

    private static func problem(
        with path: String, called name: String, depth: Int, _ trust: inout LoaderTrust
    ) throws(SystemCallError) -> FileTrust.Problem? {
        if let problem = try trust.problem(with: path, called: name) { return problem }
        if let problem = trust.problem(ofProgram: path) { return problem }
        guard depth < mostInterpreters, let words = ProgramFile.interpreter(of: path),
            let interpreter = words.first
        else { return nil }
        let found = try self.problem(
            with: interpreter, called: "the interpreter of \(path)", depth: depth + 1, &trust)
        if let found { return found }
        return try problem(withArguments: words.dropFirst(), of: interpreter, depth: depth + 1, &trust)
    }

    private static func isNamed(_ path: String, _ programs: [String]) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return programs.contains { word in
            // Names may end in a version: python3.11.
            name.hasPrefix(word)
                && name.dropFirst(word.utf8.count).allSatisfy { $0.isNumber || $0 == "." }
        }
    }

    /// The dynamic loader executes its argument, too.
    private static func isLoader(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix("ld-linux") || name == "ld.so"
    }
}
