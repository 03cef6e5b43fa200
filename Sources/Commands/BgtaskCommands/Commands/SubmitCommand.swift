import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct SubmitCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Asks the host to run a task when its conditions hold.",
        discussion: """
            The host stores the request before this command returns. With --wait, the command \
            also follows the request until its last attempt ends, and exits with 0 only if that \
            attempt succeeded.

            With --deadline, a request that has not started by that time fails with the reason \
            deadlinePassed. With --at-deadline start, it starts then instead, even if the conditions \
            are not the best; it still waits for what it requires.

            If a request of the task is pending already, --if-pending replace puts the new one in its \
            place, keep changes nothing, and append lets the new one wait until the pending or \
            running one has ended.

            If the manifest gives the task a queue ('queue: {concurrency: 4}'), each submission is a request of \
            its own, and none is replaced. --priority is its place in the queue. With --key, a second \
            submission with the same key is no second request until the first has ended, and for the time \
            'unique' of the queue after that.

            With --after, the request waits until the named requests have succeeded, and then starts as any \
            other. If one of them fails for good or is cancelled, it fails with the reason predecessorFailed.

            Examples:
              bgtask submit com.example.feed.refresh
              bgtask submit com.example.video.encode --payload '{"file": "a.mov"}' --priority 8 --key a.mov
              bgtask submit com.example.video.join --after R7 --after R8
              bgtask submit com.example.feed.refresh --deadline 2h --if-pending keep
              bgtask submit com.example.backup.nightly --deadline 2026-11-21T06:00Z --at-deadline start
              bgtask submit com.example.photos.cleanup --tag photos --tag weekly
              bgtask submit com.example.photos.cleanup --earliest 30s --external-power --wait
              bgtask submit com.example.hash.tree --payload '{"root": "/usr/share"}' --wait
              bgtask submit com.example.export.album --payload @album.json --title Album --subtitle 2026
            """)

    @Argument(help: "The identifier of the task. A manifest must permit it.")
    var identifier: TaskIdentifier

    @Option(
        help: ArgumentHelp(
            "Do not start before this time: a time from now (30s, 1h30m) or a date ('tomorrow 02:30', 2026-11-21T08:00Z).",
            valueName: "when"), transform: BeginDate.init(text:))
    var earliest: BeginDate?

    @Option(
        help: ArgumentHelp(
            "The time by which the request must start: a time from now (2h) or a date (2026-11-21T08:00Z).",
            valueName: "when"), transform: BeginDate.init(text:))
    var deadline: BeginDate?

    @Option(
        help: ArgumentHelp(
            "What happens if the request has not started by its deadline: it fails (the default), or it starts even if the conditions are not the best.",
            valueName: "fail|start"))
    var atDeadline: DeadlineAction?

    @Option(
        help: ArgumentHelp(
            "What happens if a request of the task is pending: the new one replaces it (the default), the pending one is kept, or the new one waits for its end.",
            valueName: "replace|keep|append"))
    var ifPending: PendingRule?

    @Option(
        help: ArgumentHelp(
            "A word by which you find the request and its launches again; up to 8, each 1 to 64 letters, digits, dots, hyphens and underscores.",
            valueName: "word"))
    var tag: [Tag] = []

    @Flag(help: "Start only while external power is connected.")
    var externalPower = false

    @Option(
        defaultAsFlag: NetworkArgument.required,
        help: ArgumentHelp(
            "Start only while a network is connected: any network, or only an unmetered one. Without a value, an unmetered one for processing, and any for other kinds.",
            valueName: "any|unmetered"))
    var network: NetworkArgument?

    @Option(
        help: ArgumentHelp(
            "A JSON object for the handler. @FILE reads it from a file, @- from standard input.",
            valueName: "json"))
    var payload: String?

    @Option(help: "The title of a continued task, as the user sees it.")
    var title: String?

    @Option(help: "The line below the title.")
    var subtitle: String?

    @Option(help: "What happens to a continued task that can't start now: fail refuses it, queue keeps it.")
    var strategy: SubmissionStrategy?

    @Flag(help: "Start only where a GPU is offered.")
    var gpu = false

    @Option(
        help:
            "A key of your choice. If you submit again with the same key, you get the first request, and no second one. In a queue, the key is free again after the end of the request."
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "For a task whose manifest says 'queue: {order: priority}': 0 through 9. 9 starts first; without the option, it is 5.",
            valueName: "0..9"))
    var priority: Int?

    @Option(
        help: ArgumentHelp(
            "A request that must succeed first, such as R7; give the option again for further ones.",
            valueName: "request"),
        transform: { text in
            guard let id = RequestID(text) ?? RequestID("R" + text) else {
                throw ValidationError("'\(text)' is not a request. Give a number such as R7.")
            }
            return id
        })
    var after: [RequestID] = []

    @Flag(help: "Follow the request until its last attempt ends.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if atDeadline != nil, deadline == nil {
            throw ValidationError("--at-deadline has no effect without --deadline. Add --deadline.")
        }
        if let priority, !QueuePriority.range.contains(priority) {
            throw ValidationError("The priority \(priority) is not valid. Use 0 through 9; 9 starts first.")
        }
        if let title, title.allSatisfy(\.isWhitespace) {
            throw ValidationError(
                "The title is empty. Give the text that the user sees, or leave out --title.")
        }
        if Set(tag).count > Tag.mostPerRequest {
            throw ValidationError("\(Set(tag).count) tags are too many. Use at most \(Tag.mostPerRequest).")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        // The options are checked before the host is asked.
        var message = try submission(now: console.now)
        let identifier = try await client.task(identifier)
        message.identifier = identifier
        guard wait else {
            let acceptance = try await client.submit(message)
            if console.json {
                try console.print(json: acceptance)
            } else {
                try tell(acceptance, await earlier(acceptance, client), console)
            }
            return
        }
        let events = try await RequestWatch.events(of: identifier, client, console)
        let acceptance = try await client.submit(message)
        if !console.json { try tell(acceptance, await earlier(acceptance, client), console) }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: acceptance.request.request,
            identifier: identifier)
        try await watch.follow(mayHaveBegun: key != nil || acceptance.isKept)
    }

    /// The present state of a request that was submitted before with the same key; `nil` for a new one, and
    /// from an older host.
    private func earlier(
        _ acceptance: AcceptanceMessage, _ client: ControlClient
    ) async -> RequestDetailMessage? {
        acceptance.isRepeat ? try? await client.request(acceptance.request.request) : nil
    }

    private func tell(
        _ acceptance: AcceptanceMessage, _ earlier: RequestDetailMessage?, _ console: Console
    ) throws {
        try console.line(Self.sentence(of: acceptance, earlier))
        try console.warn(acceptance.warnings)
    }

    private static func sentence(
        of acceptance: AcceptanceMessage, _ earlier: RequestDetailMessage?
    ) -> String {
        let request = acceptance.request
        if acceptance.isRepeat {
            if let earlier, earlier.hasEnded {
                let end = [earlier.outcome?.rawValue, earlier.reason?.rawValue].compactMap(\.self)
                return
                    "\(request.request) \(request.identifier) was submitted before with this key, and has ended"
                    + (end.isEmpty ? "" : " (\(end.joined(separator: ", ")))")
                    + ". Nothing was submitted. To see it: bgtask show \(request.request). To run the task "
                    + "again, use another key"
            }
            return
                "\(request.request) \(request.identifier) was submitted before with this key. Nothing was changed"
        }
        if acceptance.isKept {
            return
                "\(request.request) \(request.identifier) is pending already, and stays. Nothing was changed"
        }
        if let before = request.after {
            return "\(request.request) \(request.identifier) waits until \(before) has ended"
        }
        if let open = request.notSucceeded, !open.isEmpty {
            let others = open.map(\.description).joined(separator: ", ")
            return "\(request.request) \(request.identifier) waits for the success of \(others)"
                + (acceptance.replaces.map { "; it replaces \($0)" } ?? "")
        }
        let sentence = "\(request.request) \(request.identifier) is pending (\(request.kind.rawValue))"
        return acceptance.replaces.map { "\(sentence); it replaces \($0)" } ?? sentence
    }

    /// The submission that the options describe.
    private func submission(now: WallTime) throws -> SubmissionMessage {
        var message = SubmissionMessage(identifier: identifier)
        message.earliestBeginDate = earliest.map { Timestamp($0.time(from: now)) }
        message.deadline = deadline.map { Timestamp($0.time(from: now)) }
        message.atDeadline = atDeadline
        message.ifPending = ifPending
        message.tags = tag.isEmpty ? nil : tag
        message.requiresExternalPower = externalPower ? true : nil
        message.requiresNetworkConnectivity = network.map { _ in true }
        message.network = network?.requirement
        message.payload = try payload.map(PayloadOption.read)
        message.title = title
        message.subtitle = subtitle
        message.strategy = strategy
        message.requiresGPU = gpu ? true : nil
        message.idempotencyKey = key
        message.priority = priority
        message.afterSuccessOf = after.isEmpty ? nil : after
        return message
    }
}

/// The value of `--network`.
enum NetworkArgument: String, ExpressibleByArgument {
    case any, unmetered
    /// The option without a value.
    case required = "as the kind needs"

    init?(argument: String) {
        guard let requirement = NetworkRequirement(rawValue: argument) else { return nil }
        self = requirement == .any ? .any : .unmetered
    }

    /// Splits `--network=any` of `submit` into two arguments.
    ///
    /// ArgumentParser ignores a value that is joined to an option whose value can be left out.
    static func separating(_ arguments: [String]) -> [String] {
        guard arguments.first == "submit" else { return arguments }
        let options = arguments.prefix { $0 != "--" }
        return options.flatMap { argument in
            let value = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return value.count == 2 && value[0] == "--network" ? value.map(String.init) : [argument]
        } + arguments.dropFirst(options.count)
    }

    /// The values that can be written.
    static var allValueStrings: [String] { NetworkRequirement.allCases.map(\.rawValue) }

    /// The requirement to submit; `nil` means that the manifest or the kind decides.
    var requirement: NetworkRequirement? {
        switch self {
        case .any: .any
        case .unmetered: .unmetered
        case .required: nil
        }
    }
}

/// Reads the value of `--payload`.
enum PayloadOption {
    static func read(_ argument: String) throws -> String {
        guard argument.hasPrefix("@") else { return argument }
        let path = String(argument.dropFirst())
        do {
            let bytes = path == "-" ? try Surroundings.current.input() : try StandardStreams.read(path: path)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ValidationError("--payload: \(path) is not UTF-8; give a file of UTF-8 text")
            }
            return text
        } catch let error as SystemCallError {
            throw ValidationError(
                "--payload: \(path) can't be read: \(SystemCallError.text(of: error.code))")
        }
    }
}
