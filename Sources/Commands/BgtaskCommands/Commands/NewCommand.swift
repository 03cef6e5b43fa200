public import ArgumentParser
public import Authoring
import TaskModel

extension PluginTemplate: ExpressibleByArgument {}

struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes a plugin to begin with: code, manifest and a test.",
        discussion: """
            swift is a package on Apple's API, c one file on bgtask.h, call a manifest alone that calls functions of an \
            installed library. No file is overwritten. A Swift plugin depends on the SDK's package: that of --sdk or \
            $BGTASK_SDK, else the one installed beside this program.

            Examples:
              bgtask new c hello
              bgtask new swift Feed --bundle com.example.feed
              bgtask new call greeter --directory ~/jobs/greeter
            """)

    @Argument(help: "What it begins as: swift, c or call.")
    var template: PluginTemplate

    @Argument(help: "The plugin's name: letters, digits and _, beginning with a letter.")
    var name: String

    @Option(
        help: ArgumentHelp("Where the files go; a directory of its name by default.", valueName: "directory"))
    var directory: String?

    @Option(help: "The bundle's id; org.example.NAME by default.")
    var bundle: BundleIdentifier?

    @Option(help: ArgumentHelp("The SDK's package, for swift.", valueName: "directory"))
    var sdk: String?

    @Flag(help: "Print JSON; its keys are stable and in alphabetical order.")
    var json = false

    func run() throws {
        let console = Console(json: json)
        try console.authoring {
            let plugin = try NewPlugin(
                template, name: name, directory: directory, bundle: bundle, sdk: sdk)
            let paths = try plugin.write()
            if json {
                return try console.print(json: WrittenMessage(files: paths, next: plugin.nextSteps))
            }
            try console.line("Written:")
            for path in paths { try console.line("  \(path)") }
            try console.line("Next:")
            for step in plugin.nextSteps { try console.line("  \(step)") }
        }
    }
}

/// What `new --json` prints.
private struct WrittenMessage: Encodable {
    var files: [String]
    var next: [String]
}
