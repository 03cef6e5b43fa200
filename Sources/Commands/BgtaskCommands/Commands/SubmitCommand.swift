import ArgumentParser
import ControlClient
import ControlWire
import Foundation
import TaskModel

struct SubmitCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Asks the host to run a task when its conditions hold.",
        discussion: """
            The request is stored before this returns. With --wait the command follows it to the
            end of its last attempt and exits 0 only if that succeeded.

            Examples:
              bgtask submit com.example.feed.refresh
              bgtask submit com.example.photos.cleanup --earliest 30s --external-power --wait
              bgtask submit com.example.hash.tree --payload '{"root": "/usr/share"}' --wait
              bgtask submit com.example.export.album --payload @album.json --title Album --subtitle 2026
            """)

    @Argument(help: "The task's identifier; a manifest must permit it.")
    var identifier: TaskIdentifier

    @Option(
        help: ArgumentHelp(
            "Not before: a time from now (30s, 5m, 2h, 1d) or a date (2026-11-21T08:00Z).", valueName: "when")
    )
    var earliest: BeginDate?

    @Flag(help: "Start only while external power is connected.")
    var externalPower = false

    @Flag(help: "Start only while there is a network.")
    var network = false

    @Option(
        help: ArgumentHelp(
            "A JSON object for the handler, or @FILE to read it from; @- is standard input.",
            valueName: "json"))
    var payload: String?

    @Option(help: "What the user sees of a continued task.")
    var title: String?

    @Option(help: "Its second line.")
    var subtitle: String?

    @Option(help: "A continued task that can't start now: fail refuses it, queue keeps it.")
    var strategy: SubmissionStrategy?

    @Flag(help: "Ask for the GPU.")
    var gpu = false

    @Option(help: "Submitting again with the same key gives the same request.")
    var key: String?

    @Flag(help: "Follow the request to the end of its last attempt.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let message = try submission(now: console.now)
        guard wait else {
            let acceptance = try await client.submit(message)
            if console.json {
                try console.print(json: acceptance)
            } else {
                try console.line(Self.sentence(of: acceptance))
            }
            return
        }
        let events = try await client.events()
        let acceptance = try await client.submit(message)
        if !console.json { try console.line(Self.sentence(of: acceptance)) }
        let watch = RequestWatch(
            client: client, console: console, events: events, request: acceptance.request.request,
            identifier: identifier)
        try await watch.follow(mayHaveBegun: key != nil)
    }

    private static func sentence(of acceptance: AcceptanceMessage) -> String {
        let request = acceptance.request
        let sentence = "\(request.request) \(request.identifier) is pending (\(request.kind.rawValue))"
        return acceptance.replaces.map { "\(sentence); it replaces \($0)" } ?? sentence
    }

    /// The message that the options make.
    private func submission(now: WallTime) throws -> SubmissionMessage {
        var message = SubmissionMessage(identifier: identifier)
        message.earliestBeginDate = earliest.map { Timestamp($0.time(from: now)) }
        message.requiresExternalPower = externalPower ? true : nil
        message.requiresNetworkConnectivity = network ? true : nil
        message.payload = try payload.map(PayloadText.read)
        message.title = title
        message.subtitle = subtitle
        message.strategy = strategy
        message.requiresGPU = gpu ? true : nil
        message.idempotencyKey = key
        return message
    }
}

/// Reads what `--payload` says.
enum PayloadText {
    static func read(_ argument: String) throws -> String {
        guard argument.hasPrefix("@") else { return argument }
        let path = String(argument.dropFirst())
        do {
            let data =
                path == "-"
                ? Data(try Surroundings.current.input()) : try Data(contentsOf: URL(fileURLWithPath: path))
            guard let text = String(data: data, encoding: .utf8) else {
                throw ValidationError("--payload: \(path) is not UTF-8")
            }
            return text
        } catch let error as ValidationError {
            throw error
        } catch {
            throw ValidationError("--payload: \(path) can't be read: \(error.localizedDescription)")
        }
    }
}
