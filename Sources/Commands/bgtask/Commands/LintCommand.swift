import ArgumentParser
import ControlWire
import Foundation
import HandlerRegistry
import TaskModel

struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Checks manifests by the same code as the host; needs no host.",
        discussion: """
            Exits 1 if a manifest has an error. Without --plugins the library's file is not looked for.

            Examples:
              bgtask lint manifests/photos.yaml
              bgtask lint --plugins Plugins manifests/*.yaml --json
            """)

    @Argument(
        help: ArgumentHelp("Manifests; two that claim one identifier are both reported.", valueName: "file"))
    var files: [String]

    @Option(help: ArgumentHelp("The directory in which libraries are looked for.", valueName: "directory"))
    var plugins: String?

    @Flag(help: "Print JSON; its keys are stable and in alphabetical order.")
    var json = false

    func run() throws {
        let console = Console(json: json)
        let problems = ManifestLinter.lint(files: files, pluginsDirectory: plugins)
        let errors = problems.count { $0.severity == .error }
        do {
            if json {
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
}
