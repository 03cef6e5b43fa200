public import TaskModel

/// An event in the host: one event in the response to `GET /v1/events`.
///
/// The JSON form is an object. Its key `event` contains the name of the case, and the other keys contain the
/// values.
public enum HostEventMessage: Equatable, Sendable {
    /// The host has stored a request durably.
    case requestAccepted(RequestMessage)
    /// A pending request cannot start, for these reasons.
    case requestBlocked(RequestMessage, [VerdictMessage])
    /// A pending request ended without a launch.
    case requestCancelled(RequestID, TaskIdentifier, Reason)
    /// The host has recorded a launch.
    case launchStarted(LaunchMessage)
    /// The launch is about to call its handler.
    case launchReady(LaunchID, RequestID, at: Timestamp)
    /// The launch reported progress.
    case progress(LaunchID, RequestID, ProgressMessage)
    /// The launch has a different title and subtitle now.
    case titleChanged(LaunchID, RequestID, title: String, subtitle: String)
    /// The host asks the user whether the launch should continue.
    case launchAsked(LaunchID, RequestID, RationaleMessage)
    /// The host asked the launch to stop.
    case launchExpiring(LaunchID, RequestID, Reason)
    /// The launch has ended; `putBack` is its request if that is pending again.
    case launchEnded(LaunchMessage, putBack: RequestMessage?)
    /// A transfer was accepted, began, moved bytes, waits or has ended.
    case transferChanged(TransferMessage)
    /// A transfer has ended; only for clients that asked for nothing else.
    case transferEnded(TransferID, TransferOutcome)
    /// A handler or its program has printed or logged a line; only for clients that asked for the output of
    /// its task.
    case output(LogLineMessage)
    /// The host is stopping.
    case hostStopping
    /// An event that only a newer host knows; skip it.
    case unknown(String)

    public init(_ event: HostEvent) {
        switch event {
        case .requestAccepted(let request): self = .requestAccepted(RequestMessage(request))
        case .requestBlocked(let request, let verdicts):
            self = .requestBlocked(RequestMessage(request), verdicts.map(VerdictMessage.init))
        case .requestCancelled(let request, let identifier, let reason):
            self = .requestCancelled(request, identifier, reason)
        case .launchStarted(let record): self = .launchStarted(LaunchMessage(record))
        case .launchReady(let launch, let request, let at):
            self = .launchReady(launch, request, at: Timestamp(at))
        case .progress(let launch, let request, let progress):
            self = .progress(launch, request, ProgressMessage(progress))
        case .titleChanged(let launch, let request, let title, let subtitle):
            self = .titleChanged(launch, request, title: title, subtitle: subtitle)
        case .launchAsked(let launch, let request, let rationale):
            self = .launchAsked(launch, request, RationaleMessage(rationale))
        case .launchExpiring(let launch, let request, let reason):
            self = .launchExpiring(launch, request, reason)
        case .launchEnded(let record, let putBack):
            self = .launchEnded(LaunchMessage(record), putBack: putBack.map(RequestMessage.init))
        case .transferChanged(let transfer): self = .transferChanged(TransferMessage(transfer))
        case .transferEnded(let id, let outcome): self = .transferEnded(id, outcome)
        case .hostStopping: self = .hostStopping
        }
    }

    /// The value of the key `event`.
    public var name: String {
        switch self {
        case .requestAccepted: "requestAccepted"
        case .requestBlocked: "requestBlocked"
        case .requestCancelled: "requestCancelled"
        case .launchStarted: "launchStarted"
        case .launchReady: "launchReady"
        case .progress: "progress"
        case .titleChanged: "titleChanged"
        case .launchAsked: "launchAsked"
        case .launchExpiring: "launchExpiring"
        case .launchEnded: "launchEnded"
        case .transferChanged: "transferChanged"
        case .transferEnded: "transferEnded"
        case .output: "output"
        case .hostStopping: "hostStopping"
        case .unknown(let name): name
        }
    }
}

extension HostEventMessage: Codable {
    private enum CodingKeys: String, CodingKey {
        case event, request, launch, identifier, verdicts, rationale, reason, progress, at, putBack, title,
            subtitle, transfer, outcome, line
    }

    /// Decodes an event; an unknown name gives ``unknown(_:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let name = try values.decode(String.self, forKey: .event)
        func id() throws -> (LaunchID, RequestID) {
            (
                try values.decode(LaunchID.self, forKey: .launch),
                try values.decode(RequestID.self, forKey: .request)
            )
        }
        switch name {
        case "requestAccepted":
            self = .requestAccepted(try values.decode(RequestMessage.self, forKey: .request))
        case "requestBlocked":
            self = .requestBlocked(
                try values.decode(RequestMessage.self, forKey: .request),
                try values.decode([VerdictMessage].self, forKey: .verdicts))
        case "requestCancelled":
            self = .requestCancelled(
                try values.decode(RequestID.self, forKey: .request),
                try values.decode(TaskIdentifier.self, forKey: .identifier),
                try values.decode(Reason.self, forKey: .reason))
        case "launchStarted":
            self = .launchStarted(try values.decode(LaunchMessage.self, forKey: .launch))
        case "launchReady":
            let (launch, request) = try id()
            self = .launchReady(launch, request, at: try values.decode(Timestamp.self, forKey: .at))
        case "progress":
            let (launch, request) = try id()
            self = .progress(launch, request, try values.decode(ProgressMessage.self, forKey: .progress))
        case "titleChanged":
            let (launch, request) = try id()
            self = .titleChanged(
                launch, request, title: try values.decode(String.self, forKey: .title),
                subtitle: try values.decode(String.self, forKey: .subtitle))
        case "launchAsked":
            let (launch, request) = try id()
            self = .launchAsked(
                launch, request, try values.decode(RationaleMessage.self, forKey: .rationale))
        case "launchExpiring":
            let (launch, request) = try id()
            self = .launchExpiring(launch, request, try values.decode(Reason.self, forKey: .reason))
        case "launchEnded":
            self = .launchEnded(
                try values.decode(LaunchMessage.self, forKey: .launch),
                putBack: try values.decodeIfPresent(RequestMessage.self, forKey: .putBack))
        case "transferChanged":
            self = .transferChanged(try values.decode(TransferMessage.self, forKey: .transfer))
        case "transferEnded":
            self = .transferEnded(
                try values.decode(TransferID.self, forKey: .transfer),
                try values.decode(TransferOutcome.self, forKey: .outcome))
        case "output":
            self = .output(try values.decode(LogLineMessage.self, forKey: .line))
        case "hostStopping":
            self = .hostStopping
        default:
            self = .unknown(name)
        }
    }

    /// Encodes the case's name and its values.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .event)
        switch self {
        case .requestAccepted(let request):
            try values.encode(request, forKey: .request)
        case .requestBlocked(let request, let verdicts):
            try values.encode(request, forKey: .request)
            try values.encode(verdicts, forKey: .verdicts)
        case .requestCancelled(let request, let identifier, let reason):
            try values.encode(request, forKey: .request)
            try values.encode(identifier, forKey: .identifier)
            try values.encode(reason, forKey: .reason)
        case .launchStarted(let launch):
            try values.encode(launch, forKey: .launch)
        case .launchReady(let launch, let request, let at):
            try values.encode(launch, forKey: .launch)
            try values.encode(request, forKey: .request)
            try values.encode(at, forKey: .at)
        case .progress(let launch, let request, let progress):
            try values.encode(launch, forKey: .launch)
            try values.encode(request, forKey: .request)
            try values.encode(progress, forKey: .progress)
        case .titleChanged(let launch, let request, let title, let subtitle):
            try values.encode(launch, forKey: .launch)
            try values.encode(request, forKey: .request)
            try values.encode(title, forKey: .title)
            try values.encode(subtitle, forKey: .subtitle)
        case .launchAsked(let launch, let request, let rationale):
            try values.encode(launch, forKey: .launch)
            try values.encode(request, forKey: .request)
            try values.encode(rationale, forKey: .rationale)
        case .launchExpiring(let launch, let request, let reason):
            try values.encode(launch, forKey: .launch)
            try values.encode(request, forKey: .request)
            try values.encode(reason, forKey: .reason)
        case .launchEnded(let launch, let putBack):
            try values.encode(launch, forKey: .launch)
            try values.encode(putBack, forKey: .putBack)
        case .transferChanged(let transfer):
            try values.encode(transfer, forKey: .transfer)
        case .transferEnded(let id, let outcome):
            try values.encode(id, forKey: .transfer)
            try values.encode(outcome, forKey: .outcome)
        case .output(let line):
            try values.encode(line, forKey: .line)
        case .hostStopping, .unknown:
            break
        }
    }
}
