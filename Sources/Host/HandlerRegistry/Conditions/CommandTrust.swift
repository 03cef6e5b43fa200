import LinuxSystem
import StrictFiles

/// Decides whether a host that runs as root may run a command: root alone must be able to change everything
/// that the command executes, as with plugins.
///
/// A command executes its program, the interpreter that the first line of a script names, and, if the program
/// is an interpreter, each argument that is a file. Programs in ELF format also load libraries, which
/// ``LoaderTrust`` examines. Other files, which a program only reads, are not checked.
enum CommandTrust {
    /// Programs that execute files which they get as arguments, by the beginnings of their names.
    private static let interpreters = [
        "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "busybox", "env", "nice", "timeout",
        "sudo",
        "awk", "gawk", "mawk", "lua", "node", "perl", "php", "python", "ruby", "tclsh",
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
        guard isInterpreter(program) else { return nil }
        return try problem(withArguments: arguments.dropFirst(), depth: 0, &trust)
    }

    /// Checks the files among the arguments of an interpreter, also as the value of a variable for `env`.
    private static func problem(
        withArguments arguments: ArraySlice<String>, depth: Int, _ trust: inout LoaderTrust
    ) throws(SystemCallError) -> FileTrust.Problem? {
        for argument in arguments {
            let file = argument.hasPrefix("/") ? argument[...] : argument.drop { $0 != "=" }.dropFirst()
            guard file.hasPrefix("/"), SmallFile.exists(String(file)),
                !DirectoryTree.isDirectory(String(file))
            else { continue }
            let name = "'\(file)', which the program may execute"
            if let problem = try problem(with: String(file), called: name, depth: depth, &trust) {
                return problem
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
        let further = try problem(withArguments: words.dropFirst(), depth: depth + 1, &trust)
        if let further { return further }
        // The usual first line of scripts: #!/usr/bin/env python3
        guard interpreter.hasSuffix("/env"),
            let named = words.dropFirst().first(where: { !$0.hasPrefix("-") }),
            let place = searchPath.map({ "\($0)/\(named)" }).first(where: SmallFile.exists)
        else { return nil }
        return try self.problem(
            with: place, called: "the interpreter of \(path)", depth: depth + 1, &trust)
    }

    private static func isInterpreter(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        // The dynamic loader executes its argument, too.
        return name.hasPrefix("ld-linux")
            || interpreters.contains { word in
                // Names may end in a version: python3.11.
                name.hasPrefix(word)
                    && name.dropFirst(word.utf8.count).allSatisfy { $0.isNumber || $0 == "." }
            }
    }
}
