import Authoring
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

/// `bgtask dev`: rounds that build and launch, until the mode ends them or the user presses Ctrl-C.
struct DevSession {
    /// When the session ends.
    enum Mode {
        /// After one round.
        case once
        /// Only by Ctrl-C; each change of a file begins a round.
        case watch
        /// Only by Ctrl-C; the host stays after the first round.
        case stay
    }

    let console: Console
    let mode: Mode
    let task: TaskIdentifier?
    let payload: String?
    let directory: String
    let folder: DevelopmentFolder
    private let removal: LeashedProgram
    private let changes = ChangeSignal()
    private let watch: PathWatch?

    init(
        directory: String, task: TaskIdentifier?, payload: String?, state: String?, mode: Mode,
        console: Console
    ) throws {
        (self.task, self.payload, self.mode, self.console) = (task, payload, mode, console)
        do {
            self.directory = try DirectoryTree.realPath(of: directory)
        } catch {
            throw AuthoringError(directory, "\(error)", "Give the plugin's directory")
        }
        folder = try DevelopmentFolder(state: state)
        removal = try folder.startRemoval()
        let changes = changes
        watch = mode == .watch ? try PathWatch { _ in changes.tell() } : nil
    }

    /// Runs the rounds.
    ///
    /// - Returns: Whether every launch of the last round succeeded.
    func run() async throws -> Bool {
        var result: Result<Bool, any Error>
        do {
            result = .success(try await rounds())
        } catch {
            result = .failure(error)
        }
        removal.end()
        _ = await removal.ended()
        return try result.get()
    }

    private func rounds() async throws -> Bool {
        while true {
            let snapshot = SourceSnapshot(directory)
            watch?.watch(snapshot.directories)
            var succeeded = false
            do {
                succeeded = try await round(since: snapshot)
            } catch let error as AuthoringError where mode == .watch {
                try say(console.style.red("bgtask: \(Printable.text(error.description))"))
            }
            guard mode == .watch else { return succeeded }
            // Listening begins before the comparison, so that no change between the two is missed.
            let news = changes.listen()
            if !SourceSnapshot(directory).differs(from: snapshot) {
                try say(console.style.dim("Waiting for a change; Ctrl-C ends it."))
                for await _ in news where SourceSnapshot(directory).differs(from: snapshot) { break }
            }
            try say(console.style.bold("== Something changed"))
        }
    }

    /// Builds and launches; a mode that stays then waits until a file differs from the snapshot.
    private func round(since snapshot: SourceSnapshot) async throws -> Bool {
        let plan = try DevelopmentPlan(directory, pluginsDirectory: CallDefaults.hostPlugins)
        for problem in plan.problems {
            let text = Printable.text(problem.description)
            try say(problem.severity == .error ? console.style.red(text) : console.style.yellow(text))
        }
        guard !plan.hasErrors else {
            throw AuthoringError(directory, "a manifest has errors", "Fix the errors above")
        }
        let build = DevelopmentBuild(plan, folder, output: console.json ? "-" : nil)
        if let command = try build.command() {
            try say(console.style.bold("== " + command.joined(separator: " ")))
        }
        try folder.install(libraries: try await build.run(), manifests: plan.manifests)
        let host = try folder.startHost()
        var round = DevRound(session: self, plan: plan, host: host)
        let result: Result<Bool, any Error>
        do {
            result = .success(
                try await round.run(until: changes.listen()) {
                    SourceSnapshot(directory).differs(from: snapshot)
                })
        } catch {
            result = .failure(error)
        }
        host.end()
        _ = await round.hostEnded.value
        let succeeded = try result.get()
        if console.json {
            try console.print(
                json: RoundMessage(
                    launches: round.launches, problems: plan.problems.map(ProblemMessage.init),
                    succeeded: succeeded))
        }
        return succeeded
    }

    /// Shows a line; with `--json` on standard error, because standard output has the JSON.
    func say(_ text: String) throws {
        if console.json { console.complain(text) } else { try console.line(text) }
    }
}

/// The output of `dev --json` for one round.
private struct RoundMessage: Encodable {
    var launches: [LaunchMessage]
    var problems: [ProblemMessage]
    var succeeded: Bool
}
