import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct CancelCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancels a request or a transfer, or stops a running launch.",
        discussion: """
            A pending request is removed. A running launch is asked to stop, with the reason cancelledByUser; if it \
            still runs when its grace period ends, the host kills it.

            Several targets are cancelled in turn; the command ends at the first that the host refuses. With --json, \
            each has an object of its own.

            Examples:
              bgtask cancel R17
              bgtask cancel L42
              bgtask cancel T5 T6
              bgtask cancel com.example.photos.cleanup
              bgtask cancel --tag photos
            """)

    @Argument(
        help: ArgumentHelp(
            "Requests (R17), launches (L42), transfers (T5) or tasks, such as cleanup.",
            valueName: "target"))
    var targets: [WrittenTarget] = []

    @Option(help: ArgumentHelp("Cancel all requests and launches with this tag.", valueName: "word"))
    var tag: Tag?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if !targets.isEmpty, tag != nil { throw ValidationError("Give a target or --tag, not both.") }
        if targets.isEmpty, tag == nil {
            throw ValidationError("Name a request, a launch, a transfer or a task, or use --tag.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        if let tag { return try show(try await client.cancel(.tag(tag)), console) }
        for target in targets {
            let cancellation: CancellationMessage
            switch try await client.living(target) {
            case .transfer(let id):
                let transfer = try await client.cancel(id)
                if console.json {
                    try console.print(json: transfer)
                } else {
                    try console.line("\(transfer.transfer) is cancelled")
                }
                continue
            case .launch(let id): cancellation = try await client.cancel(.launch(id))
            case .request(let id): cancellation = try await client.cancel(.request(id))
            case .identifier(let identifier): cancellation = try await client.cancel(.identifier(identifier))
            }
            try show(cancellation, console)
        }
    }

    private func show(_ cancellation: CancellationMessage, _ console: Console) throws {
        if console.json { return try console.print(json: cancellation) }
        for request in cancellation.requests { try console.line("\(request) is cancelled") }
        for launch in cancellation.launches {
            try console.line("The host asked \(launch) to stop: cancelledByUser")
        }
    }
}

struct ExpireCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "expire",
        abstract: "Asks a running launch to stop, as the host does when its run time is over.",
        discussion: """
            The handler gets the reason. If it still runs when its grace period ends, the host kills it.

            Examples:
              bgtask expire L42
              bgtask expire com.example.photos.cleanup --reason externalPowerLost
            """)

    @Argument(
        help: ArgumentHelp("A launch (L42), or the identifier of a task that runs.", valueName: "target"))
    var target: WrittenTarget

    @Option(help: ArgumentHelp("The reason that the handler gets.", valueName: "reason"))
    var reason = Reason.simulated

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard reason.isExpiration else {
            throw ValidationError(
                "A launch can't be stopped for the reason \(reason.rawValue). Use one of \(Reason.allValueStrings.joined(separator: ", "))."
            )
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let running: ControlTarget
        switch try await client.target(target) {
        case .launch(let id): running = .launch(id)
        case .identifier(let identifier): running = .identifier(identifier)
        case .request(let id): running = .request(id)
        case .transfer(let id):
            throw ValidationError(
                "\(id) is a transfer, which has no run time. To end it: bgtask cancel \(id)")
        }
        let expiration = try await client.expire(running, reason: reason)
        if console.json { return try console.print(json: expiration) }
        for launch in expiration.launches {
            try console.line("The host asked \(launch) to stop: \(expiration.reason.rawValue)")
        }
    }
}
