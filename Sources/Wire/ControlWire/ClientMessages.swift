import FoundationEssentials
public import TaskModel

/// A message to a client that runs its own handlers: one event in the response to `POST /v1/clients`.
public enum ClientCallMessage: Codable, Equatable, Sendable {
    /// The host has registered the client.
    case registered(ClientRegisteredMessage)
    /// The client must run a handler.
    case launch(ClientLaunchMessage)
    /// The client must stop a launch.
    case expire(ClientExpireMessage)
    /// The conditions of the machine: sent at first and after each change.
    case conditions(ClientConditionsMessage)
    /// An event that only a newer host knows; skip it.
    case unknown(String)

    private enum Key: String, CodingKey { case event }

    public init(_ call: ClientCall) {
        switch call {
        case .registered(let id): self = .registered(ClientRegisteredMessage(client: "\(id)"))
        case .launch(let launch): self = .launch(ClientLaunchMessage(launch))
        case .expire(let id, let reason, let grace):
            self = .expire(ClientExpireMessage(launch: id, reason: reason, graceSeconds: grace.inSeconds))
        case .conditions(let conditions): self = .conditions(ClientConditionsMessage(conditions))
        }
    }

    /// The value of the key `event`.
    public var name: String {
        switch self {
        case .registered: "registered"
        case .launch: "launch"
        case .expire: "expire"
        case .conditions: "conditions"
        case .unknown(let name): name
        }
    }

    /// Decodes an object; the key `event` selects the case.
    public init(from decoder: any Decoder) throws {
        switch try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .event) {
        case "registered": self = .registered(try ClientRegisteredMessage(from: decoder))
        case "launch": self = .launch(try ClientLaunchMessage(from: decoder))
        case "expire": self = .expire(try ClientExpireMessage(from: decoder))
        case "conditions": self = .conditions(try ClientConditionsMessage(from: decoder))
        case let other: self = .unknown(other)
        }
    }

    /// Encodes the values of the case, and its name under the key `event`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .event)
        switch self {
        case .registered(let message): try message.encode(to: encoder)
        case .launch(let message): try message.encode(to: encoder)
        case .expire(let message): try message.encode(to: encoder)
        case .conditions(let message): try message.encode(to: encoder)
        case .unknown: break
        }
    }
}

/// The first event: the host has registered the client.
public struct ClientRegisteredMessage: Codable, Equatable, Sendable {
    /// The client's id, as it appears in the host's log: `C3`.
    public var client: String
}

/// A launch that the client must run.
public struct ClientLaunchMessage: Codable, Equatable, Sendable {
    /// The launch's id.
    public var launch: LaunchID
    /// The request that the launch runs.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's bundle.
    public var bundle: BundleIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the attempt; 1 for the first launch of the request.
    public var attempt: Int
    /// The payload: a JSON object as text; `null` if there is none.
    @Explicit public var payload: String?
    /// The bytes that an earlier launch of the request saved, as base64; `null` if there are none.
    @Explicit public var checkpoint: String?
    /// The title that the user sees; empty unless the task is a continued task.
    public var title: String
    /// The second line, below the title.
    public var subtitle: String
    /// The run time in seconds; `null` means that it is not limited.
    @Explicit public var leaseSeconds: Double?
    /// The seconds from an expiration until the host ends the launch.
    public var graceSeconds: Double

    init(_ launch: ClientLaunch) {
        self.launch = launch.id
        request = launch.request.id
        identifier = launch.request.identifier
        bundle = launch.request.bundle
        kind = launch.request.kind
        attempt = launch.request.attempt
        title = launch.request.submission.title
        subtitle = launch.request.submission.subtitle
        graceSeconds = launch.lease.gracePeriod.inSeconds
        payload = launch.request.submission.payload
        checkpoint = launch.checkpoint.map { Data($0).base64EncodedString() }
        leaseSeconds = launch.lease.duration?.inSeconds
    }
}

/// The client must stop a launch.
public struct ClientExpireMessage: Codable, Equatable, Sendable {
    /// The launch to stop.
    public var launch: LaunchID
    /// Why the launch must stop.
    public var reason: Reason
    /// The seconds until the host ends the launch, whatever the client does.
    public var graceSeconds: Double
}

/// The conditions of the machine that handlers can read.
public struct ClientConditionsMessage: Codable, Equatable, Sendable {
    /// Whether low-power mode is on.
    public var lowPowerMode: Bool
    /// How hot the machine is: `nominal`, `fair`, `serious` or `critical`.
    public var thermal: ThermalCondition
    /// The power supply: `unknown`, `battery`, `charging` or `external`.
    public var power: String
    /// The charge of the battery in percent, 0 through 100; `null` if unknown or without a battery.
    @Explicit public var batteryPercent: Int?
    /// Whether tasks may use a GPU.
    public var gpu: Bool
    /// The network: `none`, `constrained`, `metered` or `unmetered`; `null` if unknown.
    @Explicit public var network: NetworkCondition?
    /// What the ways to the network are made of, sorted; `nil` from an older host.
    ///
    /// The words are `cellular`, `other`, `wifi` and `wired`; there are none if it is unknown.
    public var interfaces: [NetworkInterface]?

    init(_ conditions: HandlerConditions) {
        lowPowerMode = conditions.isLowPowerMode
        thermal = conditions.thermal
        power = "\(conditions.power)"
        batteryPercent = conditions.batteryPercent
        gpu = conditions.hasGPU
        network = conditions.network
        interfaces = conditions.interfaces.sorted { $0.rawValue < $1.rawValue }
    }
}

/// The body of `POST /v1/launches/L42/progress`.
public struct ClientProgressMessage: Codable, Equatable, Sendable {
    /// Completed units; can become smaller.
    public var completed: Int64
    /// Total units; 0 means that the progress is indeterminate.
    public var total: Int64
    /// What the task is doing; `nil` if it did not say.
    public var message: String?

    /// Makes the report of a launch's progress.
    public init(_ progress: TaskProgress) {
        completed = progress.completed
        total = progress.total
        message = progress.message
    }

    /// The progress as a value of the model.
    public var progress: TaskProgress { TaskProgress(completed: completed, total: total, message: message) }
}

/// The body of `POST /v1/launches/L42/complete`.
public struct ClientCompletionMessage: Codable, Equatable, Sendable {
    /// Whether the task did its work.
    public var success: Bool
    /// A sentence for people about the end; `nil` if there is none.
    public var message: String?

    /// Makes the report that a launch has completed.
    public init(success: Bool, message: String? = nil) {
        self.success = success
        self.message = message
    }
}

/// The body of `POST /v1/launches/L42/checkpoint`.
public struct ClientCheckpointMessage: Codable, Equatable, Sendable {
    /// The bytes as base64, at most 48 KiB before encoding; an empty text deletes the saved bytes.
    public var checkpoint: String

    /// Encodes the bytes as base64.
    public init(_ bytes: [UInt8]) { checkpoint = Data(bytes).base64EncodedString() }

    /// The bytes; `nil` if the text is not base64.
    public var bytes: [UInt8]? { Data(base64Encoded: checkpoint).map(Array.init) }
}

/// The body of `POST /v1/launches/L42/title`.
public struct ClientTitleMessage: Codable, Equatable, Sendable {
    /// The title that the user sees.
    public var title: String
    /// The second line; `nil` means that it is empty.
    public var subtitle: String?

    /// Makes the report of a new title.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }
}
