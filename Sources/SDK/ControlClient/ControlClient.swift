import ControlChannel
public import ControlWire
import FoundationEssentials
public import TaskModel

/// A client of the control API on a host's Unix socket.
///
/// The file is long because it has a method for each route.
///
/// Every call opens and closes its own connection, so you can keep a client for any time and use it from any
/// task. To stop waiting, cancel the Swift task that calls. All methods throw ``ControlClientError``.
public struct ControlClient: Sendable {
    /// The path of the host's socket.
    public let socketPath: String

    private let transport: ControlTransport
    /// Calls that the host may answer after any time.
    private let patient: ControlTransport

    /// Creates a client of the host at a socket; this opens nothing yet.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the socket.
    ///   - timeout: The longest time without a byte from the host, in seconds, after which a call or a stream
    ///     fails; more than the 15 s after which an event stream has a comment. `nil` waits without a limit.
    public init(socketPath: String, timeout: Int? = nil) {
        self.socketPath = socketPath
        transport = ControlTransport(socketPath: socketPath, timeout: timeout)
        patient = ControlTransport(socketPath: socketPath, timeout: nil)
    }

    /// The host's version.
    public func version() async throws(ControlClientError) -> VersionMessage {
        try await get("/version")
    }

    /// Submits a request; when this returns, the host has stored it durably, or already had a request that it
    /// keeps instead (`isKept`, `isRepeat`).
    public func submit(_ submission: SubmissionMessage) async throws(ControlClientError)
        -> AcceptanceMessage
    {
        try await send(.POST, "/requests", submission)
    }

    /// Submits the work of a request that ended without success again.
    public func retry(_ request: RequestID) async throws(ControlClientError) -> AcceptanceMessage {
        try await decode(transport.exchange(.POST, path("/requests/\(request)/retry"), body: nil))
    }

    /// Lists all pending requests, with the reasons why they wait.
    ///
    /// For more than a few thousand requests, read pages: ``pendingPage(after:limit:)``.
    public func pending() async throws(ControlClientError) -> [PendingRequestMessage] {
        var rows: [PendingRequestMessage] = []
        var next: RequestID?
        repeat {
            let page = try await pendingPage(after: next)
            rows += page.requests
            next = page.next
        } while next != nil
        return rows
    }

    /// Lists a part of the pending requests, oldest first, with the reasons why they wait.
    ///
    /// - Parameters:
    ///   - after: The `next` of the page before; `nil` for the first page.
    ///   - limit: The largest number of requests, 1 through 1000; `nil` means 500.
    /// - Returns: The page.
    /// - Throws: ``ControlClientError``.
    public func pendingPage(
        after: RequestID?, limit: Int? = nil
    ) async throws(ControlClientError) -> PendingPageMessage {
        try await get("/requests?after=\(after?.description ?? "")" + (limit.map { "&limit=\($0)" } ?? ""))
    }

    /// Like ``pendingPage(after:limit:)``, but with only the first reason of each request, in a fraction of
    /// the time.
    public func pendingSummaries(
        after: RequestID?, limit: Int? = nil, tag: Tag? = nil
    ) async throws(ControlClientError) -> PendingSummaryPageMessage {
        try await get(
            "/requests?summary=true&after=\(after?.description ?? "")" + (limit.map { "&limit=\($0)" } ?? "")
                + (tag.map { "&tag=\($0)" } ?? ""))
    }

    /// The pending request of a task, with the reasons why it waits; `nil` if there is none.
    public func pending(_ identifier: TaskIdentifier) async throws(ControlClientError)
        -> PendingRequestMessage?
    {
        let rows: [PendingRequestMessage] = try await get("/requests?identifier=\(identifier)")
        return rows.first
    }

    /// Reads the array of all pending requests as JSON text, in parts of whole lines; each request has its
    /// own line.
    ///
    /// - Parameters:
    ///   - tag: Only requests with this tag; `nil` for all.
    ///   - receive: Called on another thread with one part after the other. While it runs, the host makes no
    ///     further part; after it has thrown, none is made.
    /// - Throws: ``ControlClientError``, or the error of `receive`.
    public func readPending(
        tag: Tag? = nil, _ receive: @escaping @Sendable (String) throws -> Void
    ) async throws {
        try await transport.read(path("/requests") + (tag.map { "?tag=\($0)" } ?? ""), receive)
    }

    /// Reads all pending requests, oldest first, with what a table shows of each; the fastest way to list
    /// very many.
    ///
    /// - Parameters:
    ///   - tag: Only requests with this tag; `nil` for all.
    ///   - foldsQueues: Whether the requests behind the first ones of queues are left out.
    ///   - receive: Called, also on another thread, with up to 1000 requests at a time. While it runs, the
    ///     host makes no further ones; after it has thrown, none are made.
    /// - Throws: ``ControlClientError``, or the error of `receive`.
    public func readPendingRows(
        tag: Tag? = nil, foldsQueues: Bool = false,
        _ receive: @escaping @Sendable ([PendingListingRow]) throws -> Void
    ) async throws {
        do {
            try await transport.readRows(
                path("/requests?form=rows") + (tag.map { "&tag=\($0)" } ?? "")
                    + (foldsQueues ? "&queues=first" : ""),
                PendingListingRow.init(line:), receive)
        } catch let error as ControlClientError where error.isOfHostWithoutRows {
            var next: RequestID?
            repeat {
                let page = try await pendingSummaries(
                    after: next, limit: ControlProtocol.maximumPageLength, tag: tag)
                if !page.requests.isEmpty { try receive(page.requests.map(PendingListingRow.init)) }
                next = page.next
            } while next != nil
        }
    }

    /// Reads launches, newest first, with what a table shows of each; the fastest way to list very many.
    ///
    /// - Parameters:
    ///   - filter: Which launches to read.
    ///   - limit: The greatest number of launches, at least 1; `nil` for all.
    ///   - receive: Called, also on another thread, with up to 1000 launches at a time. While it runs, the
    ///     host reads no further ones; after it has thrown, none are read.
    /// - Throws: ``ControlClientError``, or the error of `receive`.
    public func readLaunchRows(
        _ filter: LaunchFilter = .all, limit: Int? = nil,
        _ receive: @escaping @Sendable ([LaunchListingRow]) throws -> Void
    ) async throws {
        do {
            try await transport.readRows(
                path("/launches?form=rows") + filter.query + (limit.map { "&limit=\($0)" } ?? ""),
                LaunchListingRow.init(line:), receive)
        } catch let error as ControlClientError where error.isOfHostWithoutRows {
            var (next, left) = (LaunchID?.none, limit ?? .max)
            repeat {
                let page = try await launchPage(
                    filter, after: next, limit: min(left, ControlProtocol.maximumPageLength))
                if !page.launches.isEmpty { try receive(page.launches.map(LaunchListingRow.init)) }
                left -= page.launches.count
                next = left > 0 ? page.next : nil
            } while next != nil
        }
    }

    /// Cancels pending requests, and asks running launches to stop.
    public func cancel(_ target: ControlTarget) async throws(ControlClientError) -> CancellationMessage {
        try await send(.POST, "/cancel", CancelMessage(target: target))
    }

    /// Lists launches, newest first, including running ones.
    ///
    /// - Parameters:
    ///   - identifier: Lists only launches of this task; `nil` lists all.
    ///   - limit: The largest number of launches, 1 through 1000; `nil` means 50.
    /// - Returns: The launches.
    /// - Throws: ``ControlClientError``.
    public func launches(
        identifier: TaskIdentifier? = nil, limit: Int? = nil
    ) async throws(ControlClientError) -> [LaunchMessage] {
        // Identifiers and numbers need no percent-encoding in a query.
        let query = [identifier.map { "identifier=\($0)" }, limit.map { "limit=\($0)" }].compactMap { $0 }
        return try await get("/launches" + (query.isEmpty ? "" : "?" + query.joined(separator: "&")))
    }

    /// Lists a part of the launches, newest first, including running ones.
    ///
    /// - Parameters:
    ///   - filter: Which launches to list.
    ///   - after: The `next` of the page before; `nil` for the first page.
    ///   - limit: The largest number of launches, 1 through 1000.
    /// - Returns: The page.
    /// - Throws: ``ControlClientError``.
    public func launchPage(
        _ filter: LaunchFilter = .all, after: LaunchID?, limit: Int
    ) async throws(ControlClientError) -> LaunchPageMessage {
        try await get("/launches?limit=\(limit)&after=\(after?.description ?? "")" + filter.query)
    }

    /// One request in any state, with its launches.
    public func request(_ id: RequestID) async throws(ControlClientError) -> RequestDetailMessage {
        try await get("/requests/\(id)")
    }

    /// One launch with its log.
    public func launch(_ id: LaunchID) async throws(ControlClientError) -> LaunchDetailMessage {
        try await get("/launches/\(id)")
    }

    /// Makes a transfer, which is durable when this method returns.
    public func transfer(_ request: TransferRequestMessage) async throws(ControlClientError)
        -> TransferMessage
    {
        try await send(.POST, "/transfers", request)
    }

    /// Makes several transfers, all or none; they are durable when this method returns.
    ///
    /// - Parameter requests: At most ``ControlProtocol/maximumTransfers`` requests, and 512 KiB as JSON.
    /// - Returns: The transfers, in the order of the requests.
    /// - Throws: ``ControlClientError``.
    public func transfer(_ requests: [TransferRequestMessage]) async throws(ControlClientError)
        -> [TransferID]
    {
        let answer: AcceptedTransfersMessage = try await send(.POST, "/transfers", requests)
        return answer.transfers
    }

    /// Follows the ends of transfers, and nothing else but the stop of the host, from the moment when this
    /// method returns.
    ///
    /// - Returns: The events ``HostEventMessage/transferEnded(_:_:)`` and ``HostEventMessage/hostStopping``.
    /// - Throws: ``ControlClientError``; the stream can throw it, too.
    public func transferEnds() async throws(ControlClientError)
        -> AsyncThrowingStream<HostEventMessage, any Error>
    {
        try await follow("/events?only=transferEnded")
    }

    /// The transfers, oldest first.
    public func transfers() async throws(ControlClientError) -> [TransferMessage] {
        try await get("/transfers")
    }

    /// One transfer.
    public func transfer(_ id: TransferID) async throws(ControlClientError) -> TransferMessage {
        try await get("/transfers/\(id)")
    }

    /// Cancels a transfer.
    public func cancel(_ id: TransferID) async throws(ControlClientError) -> TransferMessage {
        try await decode(transport.exchange(.DELETE, path("/transfers/\(id)"), body: nil))
    }

    /// Starts a task immediately, asking only the policies Permission, SystemSleep, OneLaunchPerIdentifier
    /// and Conflicts.
    ///
    /// With a payload, the host makes a request with it, instead of starting the pending one.
    public func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool = false, learn: Bool = false, payload: String? = nil
    ) async throws(ControlClientError) -> SimulatedLaunchMessage {
        // A debugged launch is answered when it has stopped before its handler.
        try await send(
            .POST, "/launches",
            SimulationMessage(identifier: identifier, debug: debug, learn: learn, payload: payload),
            over: debug ? patient : transport)
    }

    /// Asks running launches to stop.
    public func expire(
        _ target: ControlTarget, reason: Reason = .simulated
    ) async throws(ControlClientError) -> ExpirationMessage {
        try await send(.POST, "/expire", ExpireMessage(target: target, reason: reason))
    }

    /// The contents of the plugins directory and the manifests directory.
    public func plugins() async throws(ControlClientError) -> PluginListingMessage {
        try await get("/plugins")
    }

    /// Makes the host read its configuration, its manifests and its custom conditions again.
    ///
    /// - Returns: The contents of the plugins directory and the manifests directory, as the host has read
    ///   them.
    public func reload() async throws(ControlClientError) -> PluginListingMessage {
        try await decode(transport.exchange(.POST, path("/reload"), body: nil))
    }

    /// The tasks and bundles that a word can mean, such as `hash` for `com.example.treehash.hash`.
    ///
    /// - Parameter word: An identifier or a short form of one; both have the same grammar.
    /// - Returns: The identifiers that fit it equally well.
    /// - Throws: ``ControlClientError``.
    public func names(meaning word: TaskIdentifier) async throws(ControlClientError) -> NamesMessage {
        try await get("/names?word=\(word)")
    }

    /// The tasks and bundles whose identifiers begin with a text.
    ///
    /// - Parameter prefix: The beginning; `nil` for all tasks and bundles.
    /// - Returns: The identifiers, 1000 of each kind at most.
    /// - Throws: ``ControlClientError``.
    public func names(beginningWith prefix: TaskIdentifier?) async throws(ControlClientError) -> NamesMessage
    {
        try await get("/names?prefix=\(prefix?.rawValue ?? "")")
    }

    /// Lists the bundles, with their background refresh settings and their budgets.
    public func bundles() async throws(ControlClientError) -> [BundleMessage] {
        try await get("/bundles")
    }

    /// Records a use or a dismissal of a bundle, switches its background refresh, changes its budget, or
    /// pauses or resumes it.
    public func change(
        _ bundle: BundleIdentifier, _ change: BundleChange
    ) async throws(ControlClientError) -> BundleMessage {
        try await send(.PATCH, "/bundles/\(bundle)", BundleChangeMessage(change))
    }

    /// The pause of the whole host.
    public func pause() async throws(ControlClientError) -> PauseMessage { try await get("/pause") }

    /// Pauses the whole host until a time or, with `nil`, until ``resume()``.
    ///
    /// With `drain`, what runs ends by itself.
    public func pause(
        until end: WallTime?, drain: Bool = false
    ) async throws(ControlClientError) -> PauseMessage {
        try await send(
            .POST, "/pause", PauseOrderMessage(until: end.map(Timestamp.init), drain: drain ? true : nil))
    }

    /// Ends the pause of the whole host.
    public func resume() async throws(ControlClientError) -> PauseMessage {
        try await decode(transport.exchange(.DELETE, path("/pause"), body: nil))
    }

    /// Submits a launch of a bundle's app.
    public func open(_ bundle: BundleIdentifier) async throws(ControlClientError) -> RequestMessage {
        try await decode(transport.exchange(.POST, path("/bundles/\(bundle)/open"), body: nil))
    }

    /// Submits a silent push.
    public func push(_ push: PushMessage) async throws(ControlClientError) -> AcceptanceMessage {
        try await send(.POST, "/pushes", push)
    }

    /// Lists where servers send the pushes of bundles, by UnifiedPush.
    public func pushEndpoints() async throws(ControlClientError) -> [PushEndpointMessage] {
        try await get("/push-endpoints")
    }

    /// Changes the secrets with which senders outside sign the pushes of a bundle.
    public func changePushSecret(
        of bundle: BundleIdentifier, _ change: PushSecretChange
    ) async throws(ControlClientError) -> PushSecretMessage {
        try await send(.POST, "/bundles/\(bundle)/push-secret", PushSecretChangeMessage(change: change))
    }

    /// Explains why a task waits, or would wait if it were submitted now.
    public func explain(_ identifier: TaskIdentifier) async throws(ControlClientError)
        -> TaskExplanationMessage
    {
        try await get("/explain/\(identifier)")
    }

    /// The present verdict of every policy about a pending request.
    public func explain(_ request: RequestID) async throws(ControlClientError) -> TaskExplanationMessage {
        try await get("/requests/\(request)/explanation")
    }

    /// The queues of tasks with pending requests, ordered by name.
    public func queues() async throws(ControlClientError) -> [QueueMessage] { try await get("/queues") }

    /// Explains why a launch started, and why it was asked to stop.
    public func explain(_ launch: LaunchID) async throws(ControlClientError) -> LaunchExplanationMessage {
        try await get("/launches/\(launch)/explanation")
    }

    /// Answers the question whether a launch should continue.
    public func answer(_ launch: LaunchID, keepGoing: Bool) async throws(ControlClientError) -> AnswerMessage
    {
        try await send(.POST, "/launches/\(launch)/answer", AnswerMessage(keepGoing: keepGoing))
    }

    /// The conditions of the machine.
    public func conditions() async throws(ControlClientError) -> [ConditionMessage] {
        try await get("/conditions")
    }

    /// Overrides conditions; each setting has the form `KEY=VALUE`.
    public func setConditions(_ settings: [String]) async throws(ControlClientError) -> [ConditionMessage] {
        try await send(.PATCH, "/conditions", ConditionSettingsMessage(settings: settings))
    }

    /// Removes all overrides of conditions.
    public func clearConditions() async throws(ControlClientError) -> [ConditionMessage] {
        try await decode(transport.exchange(.DELETE, path("/conditions"), body: nil))
    }

    /// The host's configuration, with the source of each value.
    public func configuration() async throws(ControlClientError) -> ConfigurationMessage {
        try await get("/configuration")
    }

    /// The grades of the bundles' sandboxes, sorted by bundle.
    ///
    /// - Parameter bundle: Grades only this bundle; `nil` grades all.
    /// - Returns: The grades.
    /// - Throws: ``ControlClientError``; the host refuses a bundle that has no manifest.
    public func security(of bundle: BundleIdentifier? = nil) async throws(ControlClientError)
        -> [SecurityMessage]
    {
        try await get("/security" + (bundle.map { "?bundle=\($0)" } ?? ""))
    }

    /// Facts about the host and the machine.
    public func report() async throws(ControlClientError) -> ReportMessage {
        try await get("/report")
    }

    /// Follows the events in the host, from the moment when this method returns.
    ///
    /// - Returns: The events until the host stops, or ends the stream of a reader that is too slow. Events
    ///   that only a newer host knows are left out.
    /// - Throws: ``ControlClientError``; the stream can throw it, too.
    public func events() async throws(ControlClientError) -> AsyncThrowingStream<HostEventMessage, any Error>
    {
        try await follow("/events")
    }

    /// Follows the events in the host, and what the handlers of a task print and log.
    ///
    /// - Parameter identifier: The task.
    /// - Returns: As ``events()``. The host leaves lines out for a reader that is too slow.
    /// - Throws: ``ControlClientError``; the stream can throw it, too.
    public func events(
        withOutputOf identifier: TaskIdentifier
    ) async throws(ControlClientError) -> AsyncThrowingStream<HostEventMessage, any Error> {
        try await follow("/events?output=\(identifier)")
    }

    private func follow(
        _ route: String
    ) async throws(ControlClientError) -> AsyncThrowingStream<HostEventMessage, any Error> {
        try await transport.follow(path(route)) { event in
            let message = try ControlJSON.decode(HostEventMessage.self, from: Data(event.data))
            if case .unknown = message { return nil }
            return message
        }
    }

    /// Reads the host's log.
    ///
    /// - Parameter following: Whether the stream continues with new lines, after those that the host still
    ///   has.
    /// - Returns: The lines, oldest first.
    /// - Throws: ``ControlClientError``; the stream can throw it, too.
    public func log(
        following: Bool
    ) async throws(ControlClientError) -> AsyncThrowingStream<LogLineMessage, any Error> {
        try await logLines(following ? "?follow=true" : "")
    }

    /// Reads the newest lines of the log that the host has stored, also before its last start.
    ///
    /// - Parameter selection: Which lines to read.
    /// - Returns: The lines, oldest first.
    /// - Throws: ``ControlClientError``; the stream can throw it, too.
    public func log(
        _ selection: LogSelection
    ) async throws(ControlClientError) -> AsyncThrowingStream<LogLineMessage, any Error> {
        try await logLines("?" + selection.query)
    }

    private func logLines(
        _ query: String
    ) async throws(ControlClientError) -> AsyncThrowingStream<LogLineMessage, any Error> {
        try await transport.follow(path("/log") + query) { event in
            guard event.name == "line" else { return nil }
            return try ControlJSON.decode(LogLineMessage.self, from: Data(event.data))
        }
    }

    private func path(_ route: String) -> String { ControlProtocol.pathPrefix + route }

    private func get<Answer: Decodable>(_ route: String) async throws(ControlClientError) -> Answer {
        try await decode(transport.exchange(.GET, path(route), body: nil))
    }

    private func send<Answer: Decodable>(
        _ method: ControlTransport.Method, _ route: String, _ message: some Encodable,
        over given: ControlTransport? = nil
    ) async throws(ControlClientError) -> Answer {
        let body: Data
        do {
            body = try ControlJSON.line(message)
        } catch {
            throw .notSent(socket: socketPath, cause: "\(error)")
        }
        return try await decode((given ?? transport).exchange(method, path(route), body: body))
    }

    private func decode<Answer: Decodable>(_ data: Data) throws(ControlClientError) -> Answer {
        do {
            return try ControlJSON.decode(Answer.self, from: data)
        } catch {
            throw .broken(socket: socketPath, finding: ControlJSON.sentence(of: error))
        }
    }
}

extension LaunchFilter {
    /// The parameters of a query, each after `&`.
    ///
    /// None of their values needs percent-encoding.
    fileprivate var query: String {
        let parts = [
            identifier.map { "&identifier=\($0)" }, bundle.map { "&bundle=\($0)" },
            tag.map { "&tag=\($0)" }, outcome.map { "&outcome=\($0.rawValue)" },
            since.map { "&since=\(Timestamp($0))" },
        ]
        return parts.compactMap(\.self).joined()
    }
}
