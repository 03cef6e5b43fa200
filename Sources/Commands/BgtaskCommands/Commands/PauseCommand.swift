import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct PauseCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses a bundle or, without a bundle, all bundles.",
        discussion: """
            Nothing starts until the pause ends, except by 'bgtask launch'. What runs is asked to stop, \
            with the reason paused; it goes on after the pause, from its last checkpoint. The pause \
            survives a restart of the host. To let what runs end by itself: 'bgtask drain'.

            Examples:
              bgtask pause --for 2h
              bgtask pause com.example.photos
              bgtask pause com.example.photos --for 2026-11-21T18:00Z
            """)

    @Argument(help: "The bundle; without one, all bundles are paused.") var bundle: BundleIdentifier?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long: a time (30m, 2h, 1d) or an end (18:00, 2026-11-21T18:00Z). Without it, until 'bgtask resume'.",
            valueName: "when"), transform: BeginDate.init(text:))
    var length: BeginDate?

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let end = length?.time(from: console.now)
        if let bundle = try await bundle.asyncMap(client.bundle) {
            let message = try await client.change(bundle, .paused(until: end))
            if console.json { return try console.print(json: message) }
            return try console.line("\(bundle) is paused\(PauseText.end(end, for: bundle, console))")
        }
        let message = try await client.pause(until: end)
        if console.json { return try console.print(json: message) }
        try console.line("All bundles are paused\(PauseText.end(end, for: nil, console))")
    }
}

struct ResumeCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends the pause of a bundle or, without a bundle, that of all bundles.",
        discussion: """
            Pauses of single bundles and the pause of all bundles are independent: a bundle runs when \
            neither applies to it. With a bundle, the command ends both its pause by 'bgtask pause' and a \
            pause because of crashes, and says which of them there were.

            Examples:
              bgtask resume
              bgtask resume com.example.photos
            """)

    @Argument(help: "The bundle; without one, the pause of all bundles ends.") var bundle: BundleIdentifier?

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        if let bundle = try await bundle.asyncMap(client.bundle) {
            let before = console.json ? nil : try await client.bundles().first { $0.bundle == bundle }
            let message = try await client.change(bundle, .resumed)
            if console.json { return try console.print(json: message) }
            for pause in before?.pauses ?? [] {
                try console.line(PauseText.ended(pause, of: bundle, console))
            }
            if message.pausedSince != nil {
                return try console.line(
                    "\(bundle) still waits, because all bundles are paused. To end that: bgtask resume")
            }
            // The host answers even if there was nothing to end.
            if before?.pauses?.isEmpty == true { return try console.line("\(bundle) was not paused") }
            if before?.pauses == nil { try console.line("\(bundle) is not paused any more") }
            return
        }
        let before = console.json ? nil : try await client.pause()
        let message = try await client.resume()
        if console.json { return try console.print(json: message) }
        try console.line(
            before?.since == nil
                ? "Neither 'bgtask pause' nor 'bgtask drain' was in force for all bundles"
                : "Launches can start again")
        for row in try await client.bundles() where row.pausedSince != nil {
            try console.line("\(row.bundle) is still paused. To end that: bgtask resume \(row.bundle)")
        }
    }
}

private enum PauseText {
    /// What `resume` has ended.
    static func ended(
        _ pause: BundlePauseMessage, of bundle: BundleIdentifier, _ console: Console
    ) -> String {
        if let crashes = pause.crashes {
            return "The pause of \(bundle) because of \(crashes) crashes in a row has ended"
        }
        return
            "The pause of \(bundle)\(pause.until.map { " until \(console.times.date($0))" } ?? "") has ended"
    }

    /// The end of a pause, as the rest of a sentence.
    static func end(_ end: WallTime?, for bundle: BundleIdentifier?, _ console: Console) -> String {
        end.map { " until \(console.times.date(Timestamp($0)))" }
            ?? ". To end the pause: bgtask resume\(bundle.map { " \($0)" } ?? "")"
    }
}
