import ArgumentParser
import Authoring
import ControlWire
import LinuxSystem
import TaskModel

struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest", abstract: "Creates a manifest from the files of an existing app.",
        discussion: """
            Examples:
              bgtask manifest from-plist Info.plist
              bgtask manifest from-plist Info.plist --sources Sources --output photos.yaml
            """,
        subcommands: [FromPlistCommand.self])
}

struct FromPlistCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-plist",
        abstract: "Creates a manifest from an app's Info.plist. Works without a host.",
        discussion: """
            The command reads CFBundleIdentifier, BGTaskSchedulerPermittedIdentifiers and UIBackgroundModes from an \
            XML or binary property list. The list does not contain the kind of each task. With --sources, the command \
            finds the kinds in the app's Swift files. Otherwise, it guesses them from modes and names, and marks each \
            guess with a comment. With --build-settings, it reads the settings that the list refers to, such as \
            $(PRODUCT_BUNDLE_IDENTIFIER), from a configuration file of Xcode.

            Examples:
              bgtask manifest from-plist Info.plist
              bgtask manifest from-plist Info.plist --bundle com.example.photos
              bgtask manifest from-plist Info.plist --build-settings Photos.xcconfig
              bgtask manifest from-plist Info.plist --sources Sources --library libPhotos.so --output photos.yaml
            """)

    @Argument(help: ArgumentHelp("The app's Info.plist.", valueName: "plist"))
    var plist: String

    @Option(
        help:
            "The identifier of the bundle. Give it if the list has only a build setting such as $(PRODUCT_BUNDLE_IDENTIFIER).",
        completion: .default
    )
    var bundle: BundleIdentifier?

    @Option(help: ArgumentHelp("The file name of the plugin.", valueName: "libX.so"))
    var library: String?

    @Option(
        help: ArgumentHelp(
            "A directory with the Swift sources that register the tasks.", valueName: "directory"))
    var sources: String?

    @Option(
        help: ArgumentHelp(
            "A configuration file of Xcode (.xcconfig) with the build settings of the list.",
            valueName: "file"))
    var buildSettings: String?

    @Option(
        help: ArgumentHelp(
            "Write the manifest to this new file. The default is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: .json)
    var json = false

    func run() throws {
        let console = Console(json: json)
        try console.authoring {
            let draft = try PlistConversion.manifest(
                fromPlist: plist, bundle: bundle, library: library, sources: sources,
                settings: buildSettings)
            if let output { try draft.write(to: output) }
            if json { return try console.print(json: DraftMessage(draft)) }
            if let output {
                try console.line("Wrote \(output). Check it: bgtask lint \(output)")
            } else {
                try console.write(draft.text)
            }
            for note in draft.notes { console.complain("note: \(Printable.text(note))") }
            for task in draft.tasks where task.isGuessed {
                console.complain(
                    "note: the kind of \(task.pattern) is a guess, \(task.kind.rawValue)\(task.reason.dropFirst("guessed".count))"
                )
            }
        }
    }
}

/// What `manifest from-plist --json` prints.
private struct DraftMessage: Encodable {
    struct Task: Encodable {
        var identifier: String
        var isGuessed: Bool
        var kind: TaskKind
        var reason: String
    }

    var bundle: String
    var library: String
    var manifest: String
    var modes: [BackgroundMode]
    var notes: [String]
    var tasks: [Task]

    init(_ draft: ManifestDraft) {
        bundle = draft.bundle.rawValue
        library = draft.library
        manifest = draft.text
        modes = draft.modes
        notes = draft.notes
        tasks = draft.tasks.map {
            Task(
                identifier: $0.pattern.description, isGuessed: $0.isGuessed, kind: $0.kind, reason: $0.reason)
        }
    }
}

extension Console {
    /// Runs a command for authors.
    ///
    /// A failure is reported, as JSON with `--json`, and the exit status is 1.
    func authoring(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as AuthoringError {
            try report(error)
            throw ExitCode(1)
        } catch is Closed {
            // The reader of the output, such as `head`, has closed the pipe.
        }
    }

    /// Reports why a command for authors failed: as JSON or as text.
    func report(_ error: AuthoringError) throws {
        if json {
            try print(json: AuthoringMessage(error))
        } else {
            complain("bgtask: \(Printable.text(error.description))")
        }
    }
}

/// The JSON form of a failed command for authors.
private struct AuthoringMessage: Encodable {
    var finding: String
    var remedy: String
    var subject: String

    init(_ error: AuthoringError) {
        (finding, remedy, subject) = (error.finding, error.remedy, error.subject)
    }
}
