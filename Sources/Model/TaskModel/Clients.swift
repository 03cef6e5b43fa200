/// Names a process that runs handlers of its own, as long as it is connected: `C3`.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1 since the host began.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `C3`.
    public var description: String { "C\(rawValue)" }
}

/// An event that the host sends to a client with handlers of its own.
public enum ClientCall: Equatable, Sendable {
    /// It is registered under this name.
    case registered(ClientID)
    /// Run the handler of a request that it submitted.
    case launch(ClientLaunch)
    /// Stop a launch; it ends after the grace period, whatever the client does.
    case expire(LaunchID, Reason, grace: Duration)
    /// What the machine is like.
    case conditions(HandlerConditions)
}

/// A launch in a client's own process.
public struct ClientLaunch: Equatable, Sendable {
    /// Its number.
    public var id: LaunchID
    /// The request that it runs.
    public var request: TaskRequest
    /// What an earlier launch saved; `nil` is nothing.
    public var checkpoint: [UInt8]?
    /// Run time and grace.
    public var lease: Lease

    public init(id: LaunchID, request: TaskRequest, checkpoint: [UInt8]?, lease: Lease) {
        self.id = id
        self.request = request
        self.checkpoint = checkpoint
        self.lease = lease
    }
}

/// A report of a client about a launch that runs in it.
public enum ClientReport: Equatable, Sendable {
    /// How far it is.
    case progress(TaskProgress)
    /// It is done; what follows is refused.
    case complete(success: Bool, message: String?)
    /// What a later launch goes on from; empty forgets.
    case checkpoint([UInt8])
    /// What the user sees of it from now on.
    case title(String, subtitle: String)
}
