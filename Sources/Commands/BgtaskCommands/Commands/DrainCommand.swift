import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct DrainCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Lets a bundle or, without a bundle, all bundles come to rest.",
        discussion: """
            Nothing starts, except by 'bgtask launch'; what runs ends by itself. Requests stay pending, and can \
            be submitted. This is a pause that stops nothing: 'bgtask resume' ends it, it survives a restart \
            of the host, and it takes the place of an earlier pause of the same bundle.

            With --wait, the command returns when nothing runs any more.

            Examples:
              bgtask drain --wait
              bgtask drain com.example.photos --for 2h
            """)

    @Argument(help: "The bundle; without one, all bundles are drained.") var bundle: BundleIdentifier?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long: a time (30m, 2h, 1d) or an end (18:00, 2026-11-21T18:00Z). Without it, until 'bgtask resume'.",
            valueName: "when"), transform: BeginDate.init(text:))
    var length: BeginDate?

    @Flag(help: "Wait until the last launch has ended.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let end = length?.time(from: console.now)
        // Events come before the order, so that no end of a launch is missed.
        let events = wait ? try await client.events() : nil
        let bundle = try await bundle.asyncMap(client.bundle)
        if let bundle {
            let message = try await client.change(bundle, .drained(until: end))
            if console.json, !wait { return try console.print(json: message) }
        } else {
            let message = try await client.pause(until: end, drain: true)
            if console.json, !wait { return try console.print(json: message) }
        }
        if !console.json {
            let resume = "bgtask resume" + (bundle.map { " \($0)" } ?? "")
            try console.line(
                (bundle.map { "\($0): nothing starts" } ?? "Nothing starts")
                    + (end.map { " until \(console.times.date(Timestamp($0)))" }
                        ?? ". To end that: \(resume)"))
        }
        guard let events else { return }
        var open = try await launches(of: bundle, client)
        if !console.json, !open.isEmpty {
            try console.line(
                "Waiting for the end of \(open.sorted().map(\.description).joined(separator: ", "))")
        }
        if !open.isEmpty {
            for try await event in events {
                if case .launchEnded(let launch, _) = event { open.remove(launch.launch) }
                if open.isEmpty { break }
            }
        }
        if console.json { return try console.print(json: DrainedMessage(bundle: bundle)) }
        try console.line("Nothing runs\(bundle.map { " of \($0)" } ?? "") any more")
    }

    /// The launches that have not ended.
    private func launches(
        of bundle: BundleIdentifier?, _ client: ControlClient
    ) async throws -> Set<LaunchID> {
        var found: Set<LaunchID> = []
        var next: LaunchID?
        repeat {
            // All pages: a launch can be older than a thousand others, and still run.
            let page = try await client.launchPage(
                .all, after: next, limit: ControlProtocol.maximumPageLength)
            for launch in page.launches
            where launch.state != .ended && (bundle.map { $0 == launch.bundle } ?? true) {
                found.insert(launch.launch)
            }
            next = page.next
        } while next != nil
        return found
    }
}

/// What `bgtask drain --wait --json` writes when nothing runs any more.
private struct DrainedMessage: Encodable, Sendable {
    var bundle: BundleIdentifier?
    var drained = true
}
