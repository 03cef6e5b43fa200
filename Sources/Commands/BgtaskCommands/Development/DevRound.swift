import Authoring
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

/// One round of `bgtask dev`: it starts a host, then launches each task, one after the other.
struct DevRound {
    private enum Input: Sendable {
        case event(HostEventMessage)
        case line(LogLineMessage)
        case changed
        case hostEnded(Int32)
        case streamEnded
    }

    let session: DevSession
    let plan: DevelopmentPlan
    /// Ends with the host's exit status.
    let hostEnded: Task<Int32, Never>
    /// The launches that ended, in the order of their ends.
    private(set) var launches: [LaunchMessage] = []

    private let client: ControlClient
    private var waiting: [TaskDeclaration] = []
    private var story: RequestStory?
    private var shownLines = 0
    /// Whether a task could not be launched.
    private var isIncomplete = false

    init(session: DevSession, plan: DevelopmentPlan, host: LeashedProgram) {
        self.session = session
        self.plan = plan
        hostEnded = Task { await host.ended() }
        client = ControlClient(socketPath: session.folder.socket)
    }

    /// Launches each task once.
    ///
    /// - Parameters:
    ///   - changes: Signals that a file may have changed.
    ///   - hasChanged: Returns whether a file has changed.
    /// - Returns: Whether every launch succeeded.
    /// - Throws: `AuthoringError` if the host does not start or ends early; `ControlClientError` if the
    ///   connection to it breaks.
    mutating func run(until changes: AsyncStream<Void>, hasChanged: () -> Bool) async throws -> Bool {
        try await waitForHost()
        let (inputs, sink) = AsyncStream.makeStream(of: Input.self)
        let feeders = try await feed(sink, changes)
        defer { for feeder in feeders { feeder.cancel() } }
        for problem in try await client.plugins().problems {
            try session.say(session.console.style.red(Printable.text(problem.problem.description)))
        }
        waiting = try chosen()
        try await launchNext()
        if story == nil, session.mode == .once { return false }
        for await input in inputs {
            switch input {
            case .line(let line):
                shownLines += 1
                try show(line)
            case .event(let event):
                try await take(event)
                if story == nil, waiting.isEmpty, session.mode == .once {
                    try await showRest()
                    return hasSucceeded
                }
            case .changed where session.mode == .watch:
                if hasChanged() { return hasSucceeded }
            case .hostEnded(let status):
                throw AuthoringError(
                    "bgtaskd", "it ended with status \(status): \(session.folder.logTail())",
                    "Report this as a fault of bgtaskd, with what the plugin did")
            case .changed, .streamEnded:
                continue
            }
        }
        return hasSucceeded
    }

    private var hasSucceeded: Bool {
        !isIncomplete && story == nil && waiting.isEmpty && !launches.isEmpty
            && launches.allSatisfy { $0.outcome == .succeeded }
    }

    // MARK: The host

    private func waitForHost() async throws {
        let ended = hostEnded
        let (statuses, sink) = AsyncStream.makeStream(of: Int32.self)
        let watcher = Task { sink.yield(await ended.value) }
        defer { watcher.cancel() }
        let client = client
        let asker = Task {
            // The limit is 100 s, because the host may have to wait for another session's host with the same
            // --state.
            for _ in 0..<2000 {
                if (try? await client.version()) != nil { break }
                try? await Task.sleep(for: .milliseconds(50))
            }
            sink.finish()
        }
        defer { asker.cancel() }
        for await status in statuses {
            throw AuthoringError(
                "bgtaskd", "it ended with status \(status):\n\(session.folder.logTail())",
                "Fix what it reports. 'bgtask doctor' shows what this machine lacks")
        }
    }

    private func feed(_ sink: AsyncStream<Input>.Continuation, _ changes: AsyncStream<Void>) async throws
        -> [Task<Void, Never>]
    {
        let events = try await client.events()
        let lines = try await client.log(following: true)
        let ended = hostEnded
        // Changes during the build were not observed, so the round checks the files once now.
        sink.yield(.changed)
        return [
            Task {
                do { for try await event in events { sink.yield(.event(event)) } } catch {}
                sink.yield(.streamEnded)
            },
            Task {
                do { for try await line in lines { sink.yield(.line(line)) } } catch {}
            },
            Task { for await _ in changes { sink.yield(.changed) } },
            Task { sink.yield(.hostEnded(await ended.value)) },
        ]
    }

    // MARK: Launches

    /// The tasks to launch: the one that the user named, otherwise all.
    private func chosen() throws -> [TaskDeclaration] {
        guard let task = session.task else { return plan.tasks }
        let chosen = plan.tasks.filter { $0.pattern.matches(task) }
        guard !chosen.isEmpty else {
            let known = plan.tasks.map(\.pattern.description).joined(separator: ", ")
            throw AuthoringError(task.rawValue, "no manifest permits it", "Permitted tasks: \(known)")
        }
        return Array(chosen.prefix(1))
    }

    private mutating func launchNext() async throws {
        while story == nil, !waiting.isEmpty {
            let task = waiting.removeFirst()
            do {
                story = try await launch(task)
            } catch let error as ControlClientError {
                guard case .refused(let message) = error else { throw error }
                isIncomplete = true
                try session.say(
                    session.console.style.red("not launched: \(Printable.text(message.description))"))
            }
        }
        guard story == nil, waiting.isEmpty, session.mode != .once else { return }
        try session.say(
            session.console.style.dim(
                "All tasks were launched. The host keeps running; to use it: export BGTASK_SOCKET=\(session.folder.socket)"
            ))
    }

    private mutating func launch(_ task: TaskDeclaration) async throws -> RequestStory? {
        let identifier = try session.task ?? Self.identifier(for: task)
        guard task.requiredPayload.isEmpty || session.payload != nil else {
            isIncomplete = true
            let keys = task.requiredPayload.keys.sorted().map { "\"\($0)\": ..." }.joined(separator: ", ")
            try session.say(
                session.console.style.yellow(
                    "\(identifier) was not launched, because it needs a payload: bgtask dev --task \(identifier) --payload '{\(keys)}'"
                ))
            return nil
        }
        try session.say(session.console.style.bold("== \(identifier)"))
        if let payload = session.payload {
            var submission = SubmissionMessage(identifier: identifier)
            submission.payload = payload
            // The date lies an hour ahead because this round launches the task itself; only continued tasks
            // start at once.
            submission.earliestBeginDate = Timestamp(session.console.now + .seconds(3600))
            let asked = submission
            let request = try await asking { try await client.submit(asked) }.request
            if task.kind == .continuedProcessing { return RequestStory(request: request.request) }
        }
        let simulated = try await asking { try await client.simulateLaunch(identifier) }
        var story = RequestStory(request: simulated.launch.request)
        _ = story.begin(simulated.launch)
        return story
    }

    /// Repeats a command that the host refuses because it has only just started and is not ready.
    private func asking<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
        var triesLeft = launches.isEmpty ? 200 : 0
        while true {
            do {
                return try await work()
            } catch ControlClientError.refused(let message) {
                guard message.code == SubmissionError.Code.unavailable.rawValue, triesLeft > 0 else {
                    throw ControlClientError.refused(message)
                }
                triesLeft -= 1
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// An identifier that the task's pattern permits.
    private static func identifier(for task: TaskDeclaration) throws -> TaskIdentifier {
        task.pattern.isWildcard
            ? try TaskIdentifier(task.pattern.base.rawValue + ".dev") : task.pattern.base
    }

    private mutating func take(_ event: HostEventMessage) async throws {
        guard let request = story?.request else { return }
        let lines = story?.take(event, now: session.console.now) ?? []
        for line in lines { try session.say(Printable.text(line)) }
        switch event {
        case .launchEnded(let ended, _) where ended.request == request:
            // The round needs one attempt. The lines above report whether the request is pending again.
            launches.append(ended)
        case .requestCancelled(request, _, _):
            isIncomplete = true
        default:
            return
        }
        story = nil
        try await launchNext()
    }

    // MARK: The log

    private func show(_ line: LogLineMessage) throws {
        guard line.level != .debug || line.source != .host else { return }
        try session.say(
            LogText.line(
                line, style: session.console.style, inLaunch: false, clock: session.console.logClock))
    }

    /// Shows the lines that the host still has and the stream has not delivered.
    private func showRest() async throws {
        var lines: [LogLineMessage] = []
        for try await line in try await client.log(following: false) { lines.append(line) }
        for line in lines.dropFirst(shownLines) { try show(line) }
    }
}
