import ArgumentParser
import ControlWire
import Foundation
import HandlerRegistry
import LinuxSystem
import TaskModel

struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks manifests and conditions by the same code as the host; needs no host.",
        discussion: """
            Exits 1 if a file has an error. Without --plugins the library's file is not looked for. A condition that a \
            manifest requires should be defined in conditions.d beside the manifests, or by one of the files.

            Examples:
              bgtask lint manifests/photos.yaml
              bgtask lint --plugins Plugins manifests/*.yaml --json
              bgtask lint --dates manifests/backup.yaml
              bgtask lint conditions.d/docked.yaml manifests/sync.yaml
            """)

    @Argument(
        help: ArgumentHelp(
            "Manifests and conditions; two that claim one name are both reported.", valueName: "file"))
    var files: [String]

    @Option(help: ArgumentHelp("The directory in which libraries are looked for.", valueName: "directory"))
    var plugins: String?

    @Option(
        help: ArgumentHelp(
            "The directory that defines conditions; conditions.d beside the manifests by default.",
            valueName: "directory"))
    var conditionsDirectory: String?

    @Flag(help: "Show the next three dates of each calendar schedule, on the clocks of its zone.")
    var dates = false

    @Flag(help: "Print JSON; its keys are stable and in alphabetical order.")
    var json = false

    func run() throws {
        let console = Console(json: json)
        let problems = ManifestLinter.lint(
            files: files, pluginsDirectory: plugins, conditionsDirectory: conditionsDirectory)
        let errors = problems.count { $0.severity == .error }
        do {
            if dates {
                try show(problems, scheduled(), console)
            } else if json {
                try console.print(json: problems.map(ProblemMessage.init))
            } else if problems.isEmpty {
                try console.line(
                    files.count == 1 ? "The manifest is right." : "\(files.count) manifests are right.")
            } else {
                try console.print(problems: problems.map(ProblemMessage.init))
            }
        } catch is Console.Closed {
            // The reader went; the exit code still says what was found.
        }
        if errors > 0 { throw ExitCode(1) }
    }

    private func scheduled() -> [ScheduledDates] {
        ManifestLinter.dates(files: files, pluginsDirectory: plugins, after: SystemClocks().now().wall)
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
            if schedule.texts.isEmpty { try console.line("  never again") }
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

    init(_ dates: ScheduledDates) {
        file = dates.file
        identifier = dates.identifier
        expression = dates.expression
        timeZone = dates.zone
        next = dates.dates.map(Timestamp.init)
    }
}
