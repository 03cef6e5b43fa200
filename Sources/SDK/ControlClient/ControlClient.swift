import ControlChannel
public import ControlWire
import FoundationEssentials
public import TaskModel

/// A typed client of the control API on a host's Unix socket.
///
/// Every call opens a connection of its own and closes it, so that a client may be kept for any time and used
/// from any task. No call has a deadline: cancel the task that waits.
public struct ControlClient: Sendable {
    /// The socket that is asked.
    public let socketPath: String

    private let transport: ControlTransport

    /// A client of the host on a socket; nothing is opened yet.
    public init(socketPath: String) {
        self.socketPath = socketPath
        transport = ControlTransport(socketPath: socketPath)
    }

    /// The host's version.
    public func version() async throws(ControlClientError) -> VersionMessage {
        try await get("/version")
    }

    /// Submits a request; durable when this returns.
    public func submit(_ submission: SubmissionMessage) async throws(ControlClientError)
        -> AcceptanceMessage
    {
        try await send(.POST, "/requests", submission)
    }

    /// What waits, and why.
    public func pending() async throws(ControlClientError) -> [PendingRequestMessage] {
        try await get("/requests")
    }

    /// Cancels what is pending, and stops what runs.
    public func cancel(_ target: ControlTarget) async throws(ControlClientError) -> CancellationMessage {
        try await send(.POST, "/cancel", CancelMessage(target: target))
    }

    /// Launches, newest first.
    ///
    /// - Parameters:
    ///   - identifier: Only launches of this task; `nil` for all.
    ///   - limit: The greatest number of launches, 1 through 1000, `nil` is 50.
    /// - Returns: Records, running ones included.
    /// - Throws: ``ControlClientError``.
    public func launches(
        identifier: TaskIdentifier? = nil, limit: Int? = nil
    ) async throws(ControlClientError) -> [LaunchMessage] {
        // Identifiers and numbers need no escapes in a query.
        let query = [identifier.map { "identifier=\($0)" }, limit.map { "limit=\($0)" }].compactMap { $0 }
        return try await get("/launches" + (query.isEmpty ? "" : "?" + query.joined(separator: "&")))
    }

    /// One launch with its log.
    public func launch(_ id: LaunchID) async throws(ControlClientError) -> LaunchDetailMessage {
        try await get("/launches/\(id)")
    }

    /// Starts a task at once, past the policies.
    public func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool = false
    ) async throws(ControlClientError) -> SimulatedLaunchMessage {
        try await send(.POST, "/launches", SimulationMessage(identifier: identifier, debug: debug))
    }

    /// Asks running launches to stop.
    public func expire(
        _ target: ControlTarget, reason: Reason = .simulated
    ) async throws(ControlClientError) -> ExpirationMessage {
        try await send(.POST, "/expire", ExpireMessage(target: target, reason: reason))
    }

    /// What the plugins and manifests directories hold.
    public func plugins() async throws(ControlClientError) -> PluginListingMessage {
        try await get("/plugins")
    }

    /// Bundles with their switches and budgets.
    public func bundles() async throws(ControlClientError) -> [BundleMessage] {
        try await get("/bundles")
    }

    /// Records a use or a dismissal, or sets a switch or a budget.
    public func change(
        _ bundle: BundleIdentifier, _ change: BundleChange
    ) async throws(ControlClientError) -> BundleMessage {
        try await send(.PATCH, "/bundles/\(bundle)", BundleChangeMessage(change))
    }

    /// Launches the app of a bundle.
    public func open(_ bundle: BundleIdentifier) async throws(ControlClientError) -> RequestMessage {
        try await decode(transport.exchange(.POST, path("/bundles/\(bundle)/open"), body: nil))
    }

    /// Delivers a silent push.
    public func push(_ push: PushMessage) async throws(ControlClientError) -> RequestMessage {
        try await send(.POST, "/pushes", push)
    }

    /// Why a task waits, or would.
    public func explain(_ identifier: TaskIdentifier) async throws(ControlClientError)
        -> TaskExplanationMessage
    {
        try await get("/explain/\(identifier)")
    }

    /// Why a launch started, and why it was stopped.
    public func explain(_ launch: LaunchID) async throws(ControlClientError) -> LaunchExplanationMessage {
        try await get("/launches/\(launch)/explanation")
    }

    /// Answers the question whether a launch should keep going.
    public func answer(_ launch: LaunchID, keepGoing: Bool) async throws(ControlClientError) -> AnswerMessage
    {
        try await send(.POST, "/launches/\(launch)/answer", AnswerMessage(keepGoing: keepGoing))
    }

    /// What the machine is like.
    public func conditions() async throws(ControlClientError) -> [ConditionMessage] {
        try await get("/conditions")
    }

    /// Simulates conditions, each as `KEY=VALUE`.
    public func setConditions(_ settings: [String]) async throws(ControlClientError) -> [ConditionMessage] {
        try await send(.PATCH, "/conditions", ConditionSettingsMessage(settings: settings))
    }

    /// Returns to the real conditions.
    public func clearConditions() async throws(ControlClientError) -> [ConditionMessage] {
        try await decode(transport.exchange(.DELETE, path("/conditions"), body: nil))
    }

    /// The host's configuration, with where each value came from.
    public func configuration() async throws(ControlClientError) -> ConfigurationMessage {
        try await get("/configuration")
    }

    /// What the host found out about the machine and itself.
    public func report() async throws(ControlClientError) -> ReportMessage {
        try await get("/report")
    }

    /// What happens in the host from the moment this returns.
    ///
    /// - Returns: Events until the host stops or drops a reader that is too slow; events of a newer host are
    ///   left out.
    /// - Throws: ``ControlClientError``; the stream itself throws it too.
    public func events() async throws(ControlClientError) -> AsyncThrowingStream<HostEventMessage, any Error>
    {
        try await transport.follow(path("/events")) { event in
            let message = try ControlJSON.decode(HostEventMessage.self, from: Data(event.data))
            if case .unknown = message { return nil }
            return message
        }
    }

    /// The host's log.
    ///
    /// - Parameter following: Whether new lines follow those that the host remembers.
    /// - Returns: Lines, oldest first.
    /// - Throws: ``ControlClientError``; the stream itself throws it too.
    public func log(
        following: Bool
    ) async throws(ControlClientError) -> AsyncThrowingStream<LogLineMessage, any Error> {
        try await transport.follow(path("/log") + (following ? "?follow=true" : "")) { event in
            guard event.name == "line" else { return nil }
            return try ControlJSON.decode(LogLineMessage.self, from: Data(event.data))
        }
    }

    private func path(_ route: String) -> String { ControlProtocol.pathPrefix + route }

    private func get<Answer: Decodable>(_ route: String) async throws(ControlClientError) -> Answer {
        try await decode(transport.exchange(.GET, path(route), body: nil))
    }

    private func send<Answer: Decodable>(
        _ method: ControlTransport.Method, _ route: String, _ message: some Encodable
    ) async throws(ControlClientError) -> Answer {
        let body: Data
        do {
            body = try ControlJSON.line(message)
        } catch {
            throw .broken(
                socket: socketPath, finding: "this client can't write the request as JSON: \(error)")
        }
        return try await decode(transport.exchange(method, path(route), body: body))
    }

    private func decode<Answer: Decodable>(_ data: Data) throws(ControlClientError) -> Answer {
        do {
            return try ControlJSON.decode(Answer.self, from: data)
        } catch {
            throw .broken(socket: socketPath, finding: ControlJSON.sentence(of: error))
        }
    }
}
