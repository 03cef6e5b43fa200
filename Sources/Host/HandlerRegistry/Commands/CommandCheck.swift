import LinuxSystem
import StrictFiles
import TaskModel

/// Compares commands with the programs of this machine.
enum CommandCheck {
    /// Refuses a command that a host which runs as root must not run, because others can change its program.
    ///
    /// - Throws: ``SubmissionError`` with the code `notPermitted`. A program that does not exist is not
    ///   refused here: the launch then fails with the reason.
    static func requireTrust(
        in start: CommandStart, _ identifier: TaskIdentifier
    ) throws(SubmissionError) {
        var words = start.words
        if let name = words.first, !name.hasPrefix("/") {
            guard let path = find(name) else { return }
            words[0] = path
        }
        // An interpreter looks for its script in the working directory.
        for index in words.indices.dropFirst() where !words[index].hasPrefix("/") {
            let path = start.directory + "/" + words[index]
            if SmallFile.exists(path) { words[index] = path }
        }
        guard let problem = (try? CommandTrust.problem(with: words)) ?? nil else { return }
        throw SubmissionError(
            code: .notPermitted, subject: identifier.rawValue, finding: problem.finding,
            remedy: problem.remedy)
    }

    /// Warns of a program or a working directory that this machine lacks.
    ///
    /// A path that begins with `~` is looked up in the home directory of this user, who may not be the
    /// host's.
    static func check(_ program: CommandProgram, _ places: CommandPlaces, _ problems: ProblemList) {
        if case .run(let words) = program.action, let name = words.first {
            if let path = try? HomePath.expand(name, ""), path.hasPrefix("/") {
                check(program: path, places.program, problems)
            } else if find(name) == nil {
                problems.warning(
                    places.program,
                    "this machine has no program '\(name.shortened)' in \(searchPath.joined(separator: ", "))",
                    "Install it, or give its path")
            }
        }
        guard let written = program.directory, let path = try? HomePath.expand(written, ""),
            !DirectoryTree.isDirectory(path)
        else { return }
        problems.warning(
            places.directory, "this machine has no directory '\(written.shortened)'",
            "Create it, or correct the path")
    }

    private static func check(program path: String, _ place: Place, _ problems: ProblemList) {
        guard let walk = try? PathWalk(path), let end = try? PathWalk.Step.at(walk.realPath) else {
            if (try? PathWalk(path)) != nil {
                problems.warning(
                    place, "this machine has no program '\(path.shortened)'",
                    "Install it, or correct the path")
            }
            return
        }
        if end.kind == .directory || !ProcessFacts.isExecutable(walk.realPath) {
            problems.warning(
                place, "'\(path.shortened)' is not a program that this user can execute",
                "Make it executable: chmod +x \(path.shortened)")
        }
    }

    /// Where the host looks for a program without a slash: the PATH of every task.
    static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]

    private static func find(_ name: String) -> String? {
        searchPath.map { "\($0)/\(name)" }.first(where: ProcessFacts.isExecutable)
    }
}
