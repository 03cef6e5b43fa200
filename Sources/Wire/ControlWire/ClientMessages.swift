import FoundationEssentials
public import TaskModel

/// A message of the host to a client that runs its own handlers: one event of `POST /v1/clients`.
public enum ClientCallMessage: Codable, Equatable, Sendable {
    /// It is registered.
    case registered(ClientRegisteredMessage)
    /// Run a handler.
    case launch(ClientLaunchMessage)
    /// Stop.
    case expire(ClientExpireMessage)
    /// What the machine is like.
    case conditions(ClientConditionsMessage)
    /// An event of a newer host; to be skipped.
    case unknown(String)

    private enum Key: String, CodingKey { case event }

    /// Copies a call.
    public init(_ call: ClientCall) {
        switch call {
        case .registered(let id): self = .registered(ClientRegisteredMessage(client: "\(id)"))
        case .launch(let launch): self = .launch(ClientLaunchMessage(launch))
        case .expire(let id, let reason, let grace):
            self = .expire(ClientExpireMessage(launch: id, reason: reason, graceSeconds: grace.inSeconds))
        case .conditions(let conditions): self = .conditions(ClientConditionsMessage(conditions))
        }
    }

    /// The event's name on the wire.
    public var name: String {
        switch self {
        case .registered: "registered"
        case .launch: "launch"
        case .expire: "expire"
        case .conditions: "conditions"
        case .unknown(let name): name
        }
    }

    /// Decodes an object with the key `event`.
    public init(from decoder: any Decoder) throws {
        switch try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .event) {
        case "registered": self = .registered(try ClientRegisteredMessage(from: decoder))
        case "launch": self = .launch(try ClientLaunchMessage(from: decoder))
        case "expire": self = .expire(try ClientExpireMessage(from: decoder))
        case "conditions": self = .conditions(try ClientConditionsMessage(from: decoder))
        case let other: self = .unknown(other)
        }
    }

    /// Encodes the values beside the key `event`.
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

/// The client is registered; the first event.
public struct ClientRegisteredMessage: Codable, Equatable, Sendable {
    /// Its name, as the host's log has it: `C3`.
    public var client: String
}

/// A launch that the client is to run.
public struct ClientLaunchMessage: Codable, Equatable, Sendable {
    /// Its number.
    public var launch: LaunchID
    /// The request that it runs.
    public var request: RequestID
    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The kind.
    public var kind: TaskKind
    /// 1 for the request's first launch.
    public var attempt: Int
    /// JSON text of an object.
    @Explicit public var payload: String?
    /// What an earlier launch saved, as base64.
    @Explicit public var checkpoint: String?
    /// What the user sees.
    public var title: String
    /// Its second line.
    public var subtitle: String
    /// Run time; `null` has no end of its own.
    @Explicit public var leaseSeconds: Double?
    /// From an expiration to the end.
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

/// A launch is to stop.
public struct ClientExpireMessage: Codable, Equatable, Sendable {
    /// The launch.
    public var launch: LaunchID
    /// Why.
    public var reason: Reason
    /// Seconds until the launch ends, whatever the client does.
    public var graceSeconds: Double
}

/// What the machine is like, as far as handlers may know.
public struct ClientConditionsMessage: Codable, Equatable, Sendable {
    /// The low-power switch.
    public var lowPowerMode: Bool
    /// `nominal`, `fair`, `serious`, `critical`.
    public var thermal: ThermalCondition
    /// `unknown`, `battery`, `charging`, `external`.
    public var power: String
    /// 0 through 100.
    @Explicit public var batteryPercent: Int?
    /// Whether a GPU is offered.
    public var gpu: Bool

    init(_ conditions: HandlerConditions) {
        lowPowerMode = conditions.isLowPowerMode
        thermal = conditions.thermal
        power = "\(conditions.power)"
        batteryPercent = conditions.batteryPercent
        gpu = conditions.hasGPU
    }
}

/// The body of `POST /v1/launches/L42/progress`.
public struct ClientProgressMessage: Codable, Equatable, Sendable {
    /// Units done.
    public var completed: Int64
    /// All units; 0 is indeterminate.
    public var total: Int64
    /// What it is doing.
    public var message: String?

    /// Reports how far a launch has come.
    public init(_ progress: TaskProgress) {
        completed = progress.completed
        total = progress.total
        message = progress.message
    }

    /// The progress without its encoding.
    public var progress: TaskProgress { TaskProgress(completed: completed, total: total, message: message) }
}

/// The body of `POST /v1/launches/L42/complete`.
public struct ClientCompletionMessage: Codable, Equatable, Sendable {
    /// Whether the work is done.
    public var success: Bool
    /// A sentence for people.
    public var message: String?

    /// Reports that a launch has ended by itself.
    public init(success: Bool, message: String? = nil) {
        self.success = success
        self.message = message
    }
}

/// The body of `POST /v1/launches/L42/checkpoint`.
public struct ClientCheckpointMessage: Codable, Equatable, Sendable {
    /// At most 48 KiB as base64; "" forgets.
    public var checkpoint: String

    /// Encodes the bytes as base64.
    public init(_ bytes: [UInt8]) { checkpoint = Data(bytes).base64EncodedString() }

    /// The bytes; `nil` if the text is not base64.
    public var bytes: [UInt8]? { Data(base64Encoded: checkpoint).map(Array.init) }
}

/// The body of `POST /v1/launches/L42/title`.
public struct ClientTitleMessage: Codable, Equatable, Sendable {
    /// What the user sees.
    public var title: String
    /// Its second line.
    public var subtitle: String?

    /// Reports what the user should see of a launch.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }
}
