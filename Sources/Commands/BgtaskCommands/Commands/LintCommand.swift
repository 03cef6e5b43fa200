import ArgumentParser
import Authoring
import ControlWire
import HandlerRegistry
import LinuxSystem
import TaskModel

struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks manifests, conditions and Swift sources. Works without a host.",
        discussion: """
            The command reads manifests and conditions with the code of the host. It exits with 1 if a file has an \
            error. With --plugins, it also checks that the library of each manifest exists and is a plugin, and the \
            signatures that the host's configuration requires (trust.keys). The library \
            of a 'call' must be in the directory of --plugins (without it, in the plugins directory of the host), or \
            where 'ldconfig -p' finds libraries. Conditions that a manifest requires must be defined in one of the \
            files, or in conditions.d beside the directory of manifests.

            If a 'call' names a C header ('header'), the command compares the number and the types of the arguments \
            with the header's declarations. It needs the header and a C compiler for this, and says so if one of \
            them is missing. 'bgtask new call --header' writes such calls.

            As root, the command also warns of write grants of directories that belong to others: each bundle \
            then has a user of its own ('bgtask config isolation.users').

            With --sources, the command searches Swift files for code that does nothing on Linux (#if os(iOS)) and for \
            code that does not compile on Linux (missing modules, @objc, #selector, key-value observing). If you also give manifests, \
            it reports identifiers in the code that no manifest permits, and permitted ones that the code never \
            registers.

            Examples:
              bgtask lint manifests/photos.yaml
              bgtask lint manifests
              bgtask lint --plugins Plugins manifests/*.yaml --json
              bgtask lint --dates manifests/backup.yaml
              bgtask lint conditions.d/docked.yaml manifests/sync.yaml
              bgtask lint --sources Sources
              bgtask lint --sources Sources photos.yaml --json
            """)

    @Argument(
        help: ArgumentHelp(
            "Manifests and conditions, or directories of them. If two files define the same name, both are reported.",
            valueName: "file"))
    var paths: [String] = []

    @Option(help: ArgumentHelp("A directory with Swift sources to check.", valueName: "directory"))
    var sources: String?

    @Option(help: ArgumentHelp("The directory with the libraries of the plugins.", valueName: "directory"))
    var plugins: String?

    @Option(
        help: ArgumentHelp(
            "The directory with the files that define conditions. The default is conditions.d beside the directory of manifests.",
            valueName: "directory"))
    var conditionsDirectory: String?

    @Flag(
        help: "Show the next three dates of each calendar schedule, in its time zone and without its jitter.")
    var dates = false

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if paths.isEmpty, sources == nil { throw ValidationError("Give a file, or --sources DIRECTORY.") }
    }

    func run() throws {
        let console = Console(json: json)
        try console.authoring { try lint(console) }
    }

    private func lint(_ console: Console) throws {
        let (files, unread) = ManifestLinter.files(at: paths)
        let sources = try sources.map { try SourceLinter.lint(sources: $0, manifests: files) }
        let found =
            ManifestLinter.lint(
                files: files, pluginsDirectory: plugins, conditionsDirectory: conditionsDirectory,
                signatures: CallDefaults.signatures, calls: CallDefaults.search(plugins),
                machine: plugins == nil ? nil : KernelSandbox.layers,
                now: Surroundings.current.now(), hostFiles: CallDefaults.hostFiles, looksUpGrants: true,
                users: CallDefaults.bundleUsers)
            + comparisons(files)
        let problems =
            unread
            + found.sorted {
                ($0.file, $0.line ?? 0, $0.column ?? 0) < ($1.file, $1.line ?? 0, $1.column ?? 0)
            }
            + (sources?.problems ?? [])
        let errors = problems.count { $0.severity == .error }
        do {
            if dates {
                try show(problems, scheduled(files), console)
            } else if json {
                try console.print(json: problems.map(ProblemMessage.init))
            } else {
                try console.print(problems: problems.map(ProblemMessage.init))
                if !problems.contains(where: { $0.severity != .note }) {
                    try console.line(praise(files, sources))
                }
            }
        } catch is Console.Closed {
            // The reader of the output has closed the pipe; the exit status still reports the errors.
        }
        if errors > 0 { throw ExitCode(1) }
    }

    /// The differences between calls and the headers that they name.
    private func comparisons(_ files: [String]) -> [ManifestProblem] {
        var linter = CallLinter(path: Surroundings.current.environment["PATH"] ?? "")
        return files.flatMap { linter.problems(in: $0) }
    }

    private func praise(_ files: [String], _ sources: SourceLinter.Report?) -> String {
        let checked = [
            files.isEmpty ? nil : Wording.count(files.count, "manifest"),
            (sources?.fileCount).map { Wording.count($0, "Swift file") },
        ]
        return "No problems found in \(checked.compactMap(\.self).joined(separator: " and "))."
    }

    private func scheduled(_ files: [String]) -> [ScheduledDates] {
        ManifestLinter.dates(
            files: files, pluginsDirectory: plugins, calls: CallDefaults.search(plugins),
            after: Surroundings.current.now())
    }

    private func show(
        _ problems: [ManifestProblem], _ scheduled: [ScheduledDates], _ console: Console
    ) throws {
        let problems = problems.map(ProblemMessage.init)
        if json {
            return try console.print(
                json: LintMessage(dates: scheduled.map(DatesMessage.init), problems: problems))
        }
        try console.print(problems: problems)
        if scheduled.isEmpty, problems.isEmpty { try console.line("No task has a calendar schedule.") }
        for schedule in scheduled {
            try console.line("\(schedule.identifier): \(schedule.expression) in \(schedule.zone)")
            for text in schedule.texts { try console.line("  \(text)") }
            if let jitter = schedule.jitter {
                try console.line(
                    "  without the jitter: each device begins up to \(DurationText.format(jitter)) later "
                        + "(see 'bgtask plugins')")
            }
            if schedule.texts.isEmpty { try console.line("  no further dates") }
        }
    }
}

/// What `lint --dates --json` prints.
private struct LintMessage: Encodable {
    var dates: [DatesMessage]
    var problems: [ProblemMessage]
}

/// The next dates of one calendar schedule.
private struct DatesMessage: Encodable {
    var file: String
    var identifier: String
    var expression: String
    var timeZone: String
    var next: [Timestamp]
    /// The jitter, which the dates leave out; absent if there is none.
    var jitterSeconds: Double?

    init(_ dates: ScheduledDates) {
        file = dates.file
        identifier = dates.identifier
        expression = dates.expression
        timeZone = dates.zone
        next = dates.dates.map(Timestamp.init)
        jitterSeconds = dates.jitter?.inSeconds
    }
}
