import ArgumentParser
import Authoring
import Calendars
import ControlClient
import ControlWire
import HandlerRegistry
import LinuxSystem
import TaskModel

struct RunCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a program as a job, without a plugin.",
        discussion: """
            The command writes a manifest for the program into the manifests directory of the host, submits a \
            request, follows it and shows the output of the program. With --every or --at, the host makes the \
            requests from then on, and the command returns at once.

            The program can read the present directory, the system's programs and libraries, and what --read \
            names; it can write to its own data directory (its HOME), and to what --write names. Without \
            --internet, it has no network.

            The manifest stays. To run the job again, use 'bgtask submit' with the identifier that this command \
            prints; to remove the job, remove the file.

            Examples:
              bgtask run -- ./report.sh
              bgtask run --power --idle --name pack -- /bin/sh -c 'tar -czf "$HOME/photos.tgz" .'
              bgtask run --every 1d --power --internet --name mirror -- /usr/local/bin/mirror-feed
              bgtask run --at 02:30 --name tidy --write ~/Downloads -- /usr/bin/find ~/Downloads -name '*.tmp' -delete

            A directory of --write must exist, and the user that runs the job must be able to write to it: a \
            host that runs as root gives each job a user of its own ('bgtask lint' says who).
            """)

    @Option(help: "The name of the job: letters, digits and -. The default is the name of the program.")
    var name: String?

    @Flag(
        name: [.customLong("power"), .customLong("external-power")],
        help: "Run only while external power is connected.")
    var power = false

    @Flag(help: "Run only while the user is idle.")
    var idle = false

    @Flag(help: "Run only while a network is connected.")
    var network = false

    @Flag(help: "Let the program use the network.")
    var internet = false

    @Option(help: ArgumentHelp("A file or directory that the program can read.", valueName: "path"))
    var read: [String] = []

    @Option(help: ArgumentHelp("A directory to which the program can write.", valueName: "path"))
    var write: [String] = []

    @Option(help: ArgumentHelp("Run repeatedly, after this time, such as 6h or 1d.", valueName: "time"))
    var every: String?

    @Option(help: ArgumentHelp("Run at these dates, such as 02:30 or 'Mon 09:00'.", valueName: "dates"))
    var at: String?

    @Flag(help: "Return when the request is stored, without following it.")
    var detach = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"))
    var words: [String] = []

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if words.isEmpty {
            throw ValidationError("There is no program. Give it after --: bgtask run -- ./report.sh")
        }
        if every != nil, at != nil { throw ValidationError("Use --every or --at, but not both.") }
        // A wrong time is named before the host is asked, and before a manifest is written.
        if let every, (try? DurationText.parse(every)) == nil {
            throw ValidationError(
                "Not a valid time for --every: '\(Printable.text(every))'. Use a number with a unit, such as 6h or 1d."
            )
        }
        if let at {
            do {
                _ = try CalendarExpression(at)
            } catch {
                throw ValidationError("Not valid dates for --at: '\(Printable.text(at))': \(error)")
            }
        }
        for path in read + write where !path.hasPrefix("/") && !path.hasPrefix("~/") {
            throw ValidationError("Not an absolute path: '\(Printable.text(path))'. Begin it with / or ~/.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let manifest = try self.manifest(console)
        let paths = try await client.configuration().values
        let directory = paths.first { $0.key == "paths.manifests" }?.value
        guard let directory, !directory.isEmpty else {
            throw ValidationError("The host does not say where its manifests are. Start a newer bgtaskd.")
        }
        var path = ""
        try console.authoring { path = try manifest.write(to: directory) }
        try check(path, plugins: paths.first { $0.key == "paths.plugins" }?.value, console)
        let identifier = try TaskIdentifier(manifest.identifier)
        if !manifest.timings.isEmpty {
            // When this command returns, the next one can use the job; the host may not have seen the file
            // yet.
            _ = try await client.reload()
            if console.json {
                return try console.print(json: Written(identifier: identifier, manifest: path))
            }
            try console.line("The host runs \(identifier) by the schedule in \(path)")
            return try console.line("To see when: bgtask timers. To run it now: bgtask launch \(identifier)")
        }
        let events = detach ? nil : try await RequestWatch.events(of: identifier, client, console)
        let acceptance = try await client.submit(SubmissionMessage(identifier: identifier))
        let request = acceptance.request.request
        if !console.json { try console.line("\(request) \(identifier) is pending; its manifest is \(path)") }
        guard let events else {
            if console.json { try console.print(json: acceptance) }
            return
        }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: request, identifier: identifier)
        try await watch.follow()
    }

    /// Checks the new manifest as the host does; removes it and ends the command if the host refuses it.
    ///
    /// With the plugins directory of the host, the owners and modes of the manifest and of the directories
    /// above it are checked, too.
    private func check(_ path: String, plugins: String?, _ console: Console) throws {
        let problems = ManifestLinter.lint(
            files: [path], pluginsDirectory: plugins, now: Surroundings.current.now(),
            users: CallDefaults.bundleUsers)
        let errors = problems.filter { $0.severity == .error }
        if errors.isEmpty {
            for text in missing + (note.map({ [$0] }) ?? problems.map(\.description)) {
                console.complain(Printable.text(text))
            }
            return
        }
        try? DirectoryTree.remove(path)
        if console.json {
            try console.print(json: errors.map(ProblemMessage.init))
        } else {
            for error in errors { console.complain(Printable.text(error.description)) }
            console.complain("The manifest was removed again, because the host would refuse it.")
        }
        throw ExitCode(1)
    }

    /// Notes on directories that the program could not write to, because they do not exist.
    private var missing: [String] {
        write.filter { $0.hasPrefix("/") && DirectoryTree.isMissing($0) }.map {
            "Note: \($0) does not exist, so the job can't write to it. Make the directory"
        }
    }

    /// Notes what the host accepts, and what the user probably did not mean.
    private var note: String? {
        guard network, !internet else { return nil }
        return
            "Note: the job waits for a network, but can't use one. To let it use the network, add --internet"
    }

    private func manifest(_ console: Console) throws -> CommandManifest {
        var made: CommandManifest?
        try console.authoring {
            var manifest = try CommandManifest(
                words, name: name, directory: try DirectoryTree.realPath(of: "."))
            manifest.read = read
            manifest.write = write
            manifest.usesNetwork = internet
            manifest.requiresExternalPower = power
            manifest.requiresNetwork = network
            manifest.requiresIdle = idle
            if every != nil || at != nil { manifest.timings = [CommandManifest.Timing(every: every, at: at)] }
            made = manifest
        }
        guard let made else { throw ExitCode(1) }
        return made
    }
}

/// What `run --every --json` prints.
private struct Written: Encodable {
    var identifier: TaskIdentifier
    var manifest: String
}
