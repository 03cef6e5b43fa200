/// Identifies a process that runs handlers of its own, as long as it is connected: `C3`.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
    /// A number, counted from 1 since the host started.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The form `C3`.
    public var description: String { "C\(rawValue)" }
}

/// An event that the host sends to a client with handlers of its own.
public enum ClientCall: Equatable, Sendable {
    /// The host has registered the client under this id.
    case registered(ClientID)
    /// Run the handler of a request that the client submitted.
    case launch(ClientLaunch)
    /// Stop a launch; it ends after the grace period, whatever the client does.
    case expire(LaunchID, Reason, grace: Duration)
    /// The conditions of the machine: sent at first and after each change.
    case conditions(HandlerConditions)
}

/// A launch in a client's own process.
public struct ClientLaunch: Equatable, Sendable {
    /// The launch's id.
    public var id: LaunchID
    /// The request that the launch runs.
    public var request: TaskRequest
    /// The bytes that an earlier launch of the request saved; `nil` if there are none.
    public var checkpoint: [UInt8]?
    /// The run time and the grace period.
    public var lease: Lease

    public init(id: LaunchID, request: TaskRequest, checkpoint: [UInt8]?, lease: Lease) {
        self.id = id
        self.request = request
        self.checkpoint = checkpoint
        self.lease = lease
    }
}

/// A report of a client about a launch that runs in the client's process.
public enum ClientReport: Equatable, Sendable {
    /// How far the launch is.
    case progress(TaskProgress)
    /// The launch is complete; the host refuses later reports.
    case complete(success: Bool, message: String?)
    /// The bytes for the next launch of the request; empty bytes delete what was saved.
    case checkpoint([UInt8])
    /// The title and subtitle that the user sees from now on.
    case title(String, subtitle: String)
}
