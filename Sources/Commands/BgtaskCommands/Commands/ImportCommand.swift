import ArgumentParser
import Authoring
import ControlWire
import HandlerRegistry
import LinuxSystem
import TaskModel

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Creates manifests from jobs of cron or systemd.",
        discussion: """
            Examples:
              crontab -l | bgtask import crontab -
              bgtask import crontab --system /etc/cron.d/backup --output manifests
              bgtask import timer logrotate --output manifests
            """,
        subcommands: [ImportCrontabCommand.self, ImportTimerCommand.self])
}

/// What both commands have in common: the grants, and where the manifests go.
struct ImportOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file or directory that the programs can read.", valueName: "path"))
    var read: [String] = []

    @Option(help: ArgumentHelp("A directory to which the programs can write.", valueName: "path"))
    var write: [String] = []

    @Flag(help: "Let the programs use the network.")
    var internet = false

    @Option(
        help: ArgumentHelp(
            "Write the manifests to new files in this directory. The default is standard output.",
            valueName: "directory"))
    var output: String?

    @Option(
        help:
            "The name of the job: letters, digits and -. Further jobs get a number. The default is the name of the program or timer."
    )
    var name: String?

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if let name,
            name.isEmpty || !name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        {
            throw ValidationError(
                "Not a valid name: '\(Printable.text(name))'. Use letters, digits and -, such as photo-backup."
            )
        }
        for path in read + write where !path.hasPrefix("/") && !path.hasPrefix("~/") {
            throw ValidationError("Not an absolute path: '\(Printable.text(path))'. Begin it with / or ~/.")
        }
    }

    /// Writes or prints the manifests, then the notes about each; exits with 1 if something was not read.
    func finish(_ imported: ImportedJobs, _ console: Console) throws {
        var written: [ImportedMessage] = []
        var failures = imported.failures
        if let output, !imported.jobs.isEmpty {
            do {
                try DirectoryTree.make(output, mode: 0o755)
            } catch {
                throw AuthoringError(
                    output, "the directory can't be made: \(error)", "Give another one: --output DIR")
            }
        }
        for job in imported.jobs {
            var manifest = job.manifest
            manifest.read = (manifest.read + read).filter { !write.contains($0) }
            manifest.write += write
            manifest.usesNetwork = manifest.usesNetwork || internet
            do {
                let path = try output.map { (directory) throws(AuthoringError) in
                    try manifest.write(to: directory)
                }
                if let path, let problem = refusal(of: path) { failures.append(problem) }
                written.append(ImportedMessage(manifest, job.notes, path))
            } catch {
                // The other jobs are written; the user sees which one is not.
                failures.append("\(error)")
            }
        }
        if json {
            try console.print(json: written)
        } else {
            for job in written { try show(job, console) }
        }
        for failure in failures { console.complain("not kept: \(Printable.text(failure))") }
        if !failures.isEmpty { throw ExitCode(1) }
        if imported.jobs.isEmpty { console.complain("There is no job in the file.") }
    }

    /// Why the host would refuse a new manifest, such as for a tolerance out of range; `nil` if it would not.
    private func refusal(of path: String) -> String? {
        ManifestLinter.lint(files: [path], pluginsDirectory: nil).first { $0.severity == .error }
            .map { "the host would refuse this manifest, so correct it: \($0)" }
    }

    private func show(_ job: ImportedMessage, _ console: Console) throws {
        if let path = job.path {
            try console.line("Wrote \(path). Check it: bgtask lint \(path)")
            for note in job.notes { console.complain("note: \(job.identifier): \(Printable.text(note))") }
        } else {
            try console.write("# \(job.file)\n\(job.manifest)\n")
        }
    }
}

struct ImportCrontabCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crontab",
        abstract: "Creates a manifest for each line of a crontab. Works without a host.",
        discussion: """
            The dates, the command, its shell and its variables are kept. The notes in each manifest say what is not: \
            mail, and the user. Each command gets a sandbox: it can use the programs of the system and its own data \
            directory, and read the files that the line names. Grant what else it needs with --read, --write \
            and --internet, or find out with 'bgtask launch IDENTIFIER --learn'.

            Examples:
              crontab -l | bgtask import crontab -
              crontab -l | bgtask import crontab - --write /mnt/backup --output ~/.config/bgtask/manifests
              bgtask import crontab --system /etc/crontab
            """)

    @Argument(help: ArgumentHelp("A crontab, or - for standard input.", valueName: "file"))
    var file: String

    @Flag(
        help: "Each line names a user after the dates, as in /etc/crontab. The default for files below /etc.")
    var system = false

    @OptionGroup var options: ImportOptions

    func run() throws {
        let console = Console(json: options.json)
        try console.authoring {
            let bytes: [UInt8]
            do {
                bytes =
                    try file == "-"
                    ? Surroundings.current.input()
                    : FileContents.read(file, atMost: CrontabImport.maximumSize)
            } catch let error as SystemCallError {
                throw AuthoringError(
                    file, "the file can't be read: \(error)", "Give another file, or - for standard input")
            }
            let imported = CrontabImport.jobs(
                in: String(decoding: bytes, as: UTF8.self), path: file == "-" ? "standard input" : file,
                hasUsers: system || file.hasPrefix("/etc/cron"),
                home: home(of: file), name: options.name)
            try options.finish(imported, console)
        }
    }
}

extension ImportCrontabCommand {
    /// The home directory of the user whose crontab it is: cron keeps it in a file with the name of the user.
    private func home(of file: String) -> String? {
        guard file.hasPrefix("/var/spool/cron/"), let user = file.split(separator: "/").last else {
            return Surroundings.current.environment["HOME"]
        }
        return UserHomes.directory(ofUserNamed: String(user))
    }
}

struct ImportTimerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timer",
        abstract: "Creates a manifest from a timer of systemd and its service. Works without a host.",
        discussion: """
            The command reads the unit files with their drop-ins. Dates, commands, variables, the working directory, \
            paths, external power and the network are kept; the notes in the manifest name each setting that is not. \
            A timer with several OnCalendar= becomes several tasks of one manifest.

            Examples:
              bgtask import timer backup
              bgtask import timer ./backup.timer --write /mnt/backup --output manifests
            """)

    @Argument(help: ArgumentHelp("The name of a timer, or the path of its file.", valueName: "unit"))
    var unit: String

    @OptionGroup var options: ImportOptions

    func run() throws {
        let console = Console(json: options.json)
        try console.authoring {
            try options.finish(
                TimerImport.jobs(
                    of: unit, home: Surroundings.current.environment["HOME"], named: options.name), console)
        }
    }
}

/// What `import --json` prints of each job.
private struct ImportedMessage: Encodable {
    var file: String
    var identifier: String
    var manifest: String
    var notes: [String]
    var path: String?

    init(_ manifest: CommandManifest, _ notes: [String], _ path: String?) {
        file = manifest.file
        identifier = manifest.identifier
        self.manifest = manifest.text
        self.notes = notes
        self.path = path
    }
}
