import LinuxSystem
import Logging
import Pushes
import Synchronization
import TaskModel

/// Connects ``PushRegistrations`` to the bus, the file and the host.
///
/// Changes are made under a lock, in the order in which they come; the file is written under it, too, so that
/// an older state can't replace a newer one.
final class ConnectorDesk: BusServant {
    private struct State {
        var registrations: PushRegistrations
        var rates: PushRates
        var refusals = RefusalGate()
        var bus: BusService?
        var isJoined = false
        /// Distributors that lack the second version of the interface.
        var first: Set<String> = []
        /// The distributors that run, and those that the bus can start.
        var running: Set<String> = []
        var startable: Set<String> = []
        /// The newest announcement of an endpoint; they are made one after the other.
        var announcing: Task<Void, Never>?
    }

    private static let bus = BusObject(path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
    private static let path = "/org/unifiedpush/Distributor"
    static let first = "org.unifiedpush.Connector1", second = "org.unifiedpush.Connector2"
    private static let connectorPath = "/org/unifiedpush/Connector"

    private let file: RegistrationFile
    private let host: any PushConnectorHost
    private let logger: Logger
    private let moments: any MomentSource
    private let state: Mutex<State>

    init(
        choice: DistributorChoice, file: RegistrationFile, rates: PushRates.Limits,
        host: any PushConnectorHost, logger: Logger, moments: any MomentSource
    ) {
        (self.file, self.host, self.logger, self.moments) = (file, host, logger, moments)
        var rows: [BundleIdentifier: PushRegistration] = [:]
        do {
            rows = try file.read()
        } catch {
            logger.error(
                "the registrations of UnifiedPush can't be read, so the host makes new ones: \(error)")
        }
        state = Mutex(
            State(
                registrations: PushRegistrations(rows, choice: choice, makeToken: PushToken.random),
                rates: PushRates(rates, at: moments.now().boot)))
    }

    func join(_ bus: BusService) {
        state.withLock { $0.bus = bus }
        findDistributors()
    }

    func set(bundles: Set<BundleIdentifier>) { change { $0.set(bundles: bundles) } }

    /// Makes a change, and does what follows from it.
    private func change(_ body: (inout PushRegistrations) -> [PushRegistrations.Action]) {
        let (actions, bus): ([PushRegistrations.Action], BusService?) = state.withLock { state in
            let actions = body(&state.registrations)
            if actions.contains(.save) {
                do {
                    try file.write(state.registrations.rows)
                } catch {
                    logger.error("the registrations of UnifiedPush can't be stored: \(error)")
                }
            }
            return (actions, state.bus)
        }
        for action in actions {
            switch action {
            case .save: break
            case .register(let bundle, let row): if let bus { register(bundle, row, bus) }
            case .unregister(let row): if let bus { unregister(row, bus) }
            case .announce(let bundle, let endpoint): announce(endpoint, to: bundle)
            }
        }
    }

    // MARK: What the host asks of distributors

    private func object(_ version: Int) -> BusObject {
        BusObject(path: Self.path, interface: "org.unifiedpush.Distributor\(version)")
    }

    private func register(_ bundle: BundleIdentifier, _ row: PushRegistration, _ bus: BusService) {
        let description = "\(bundle) (bgtask)"
        bus.call(
            row.distributor, object(2), "Register",
            .dictionary(["service": PushConnector.busName, "token": row.token, "description": description])
        ) { [self] answer in
            if case .dictionary(let values)? = answer?.first {
                return registered(bundle, row, values["success"], values["reason"])
            }
            bus.call(
                row.distributor, object(1), "Register",
                .texts([PushConnector.busName, row.token, description])
            ) { [self] answer in
                _ = state.withLock { $0.first.insert(row.distributor) }
                registered(bundle, row, answer?.first, answer?.dropFirst().first)
            }
        }
    }

    private func registered(
        _ bundle: BundleIdentifier, _ row: PushRegistration, _ result: BusValue?, _ reason: BusValue?
    ) {
        if result == .text("REGISTRATION_SUCCEEDED") {
            return logger.info("\(bundle) is registered with \(row.distributor)")
        }
        var text = "it did not answer"
        if case .text(let reason)? = reason { text = reason }
        logger.warning("\(row.distributor) did not register \(bundle): \(text)")
    }

    private func unregister(_ row: PushRegistration, _ bus: BusService) {
        if state.withLock({ $0.first.contains(row.distributor) }) {
            return bus.call(row.distributor, object(1), "Unregister", .texts([row.token])) { _ in }
        }
        bus.call(row.distributor, object(2), "Unregister", .dictionary(["token": row.token])) { [self] in
            guard $0 == nil else { return }
            bus.call(row.distributor, object(1), "Unregister", .texts([row.token])) { _ in }
        }
    }

    // MARK: The bus

    func joined() {
        state.withLock { $0.isJoined = true }
        logger.notice("the host is on the session bus as \(PushConnector.busName), for UnifiedPush")
        findDistributors()
    }

    func left() {
        state.withLock { state in
            state.isJoined = false
            (state.running, state.startable) = ([], [])
        }
        change { $0.set(distributors: []) }
    }

    func ownerChanged(of name: String, isOwned: Bool) {
        guard Self.isDistributor(name) else { return }
        if isOwned {
            _ = state.withLock { $0.running.insert(name) }
            return change { $0.started(name) }
        }
        found { $0.running.remove(name) }
    }

    private static func isDistributor(_ name: String) -> Bool {
        name.hasPrefix(DistributorChoice.namespace + ".")
    }

    private func findDistributors() {
        guard let bus = state.withLock({ $0.isJoined ? $0.bus : nil }) else { return }
        func list(_ method: String, _ note: @escaping @Sendable (inout State, [String]) -> Void) {
            bus.call("org.freedesktop.DBus", Self.bus, method, .texts([])) { [weak self] answer in
                guard case .list(let values)? = answer?.first else { return }
                let names = values.compactMap { if case .text(let name) = $0 { name } else { nil } }
                self?.found { note(&$0, names.filter(Self.isDistributor)) }
            }
        }
        list("ListActivatableNames") { $0.startable = Set($1) }
        list("ListNames") { $0.running.formUnion($1) }
    }

    private func found(_ note: (inout State) -> Void) {
        let all: Set<String> = state.withLock { state in
            note(&state)
            return state.running.union(state.startable)
        }
        change { $0.set(distributors: all) }
    }

    // MARK: What distributors ask of the host

    func called(_ call: BusCall) -> Bool {
        guard call.object.path == Self.connectorPath, let bus = state.withLock({ $0.bus }) else {
            return false
        }
        var arguments = call.arguments
        let isSecond = call.object.interface == Self.second
        guard isSecond || call.object.interface == Self.first else { return false }
        if isSecond {
            guard case .dictionary(let values)? = call.arguments.first else { return false }
            let keys = ["Message": ["token", "message", "id"], "NewEndpoint": ["token", "endpoint"]]
            arguments = (keys[call.member] ?? ["token"]).map { values[$0] ?? .text("") }
        }
        guard case .text(let token)? = arguments.first else { return false }
        switch (call.member, arguments.dropFirst().first) {
        case ("NewEndpoint", .text(let endpoint)?): change { $0.set(endpoint: endpoint, of: token) }
        case ("Unregistered", _): change { $0.unregistered(token) }
        case ("Message", .list(let bytes)?):
            var id: String?
            if case .text(let text)? = arguments.last, arguments.count == 3, !text.isEmpty { id = text }
            let message = bytes.compactMap {
                if case .integer(let byte) = $0 { UInt8(truncatingIfNeeded: byte) } else { nil }
            }
            // The distributor gets its answer when the push is durable, and an error if it is not: it still
            // has the message, and can send it again.
            Task {
                if let refusal = await deliver(message, token: token, id: id) {
                    bus.refuse(call, name: Self.errorName(of: refusal), text: "\(refusal)")
                } else {
                    bus.reply(to: call, withDictionary: isSecond)
                }
            }
            return true
        default: return false
        }
        bus.reply(to: call, withDictionary: isSecond)
        return true
    }

    private static func errorName(of refusal: PushRefusal) -> String {
        let name = refusal.code == .tooManyPushes ? "LimitsExceeded" : "Failed"
        return "org.freedesktop.DBus.Error.\(name)"
    }

    /// Delivers a message.
    ///
    /// - Returns: Why the distributor should send it again; `nil` if it is done with, also if no attempt
    ///   could ever succeed.
    private func deliver(_ message: [UInt8], token: String, id: String?) async -> PushRefusal? {
        let bundle = state.withLock { $0.registrations.bundle(of: token) }
        guard let bundle else {
            note("a message of UnifiedPush has an unknown token")
            return nil
        }
        guard let payload = UnifiedPushPayload.payload(of: message) else {
            note("a message of UnifiedPush for \(bundle) has \(message.count) bytes, which is too many")
            return nil
        }
        let key = id.map { UnifiedPushPayload.key(token: token, id: $0) }
        var refusal: PushRefusal?
        do throws(SubmissionError) {
            // A message that is known takes nothing from the rates.
            if let key, try await host.earlier(to: bundle, key: key) != nil { return nil }
            refusal = take(bundle)
            if refusal == nil {
                let delivered = try await host.receive(
                    to: bundle, payload: payload, priority: .considerate, key: key)
                // It was sent twice at the same time.
                if delivered.isRepeat { state.withLock { $0.rates.giveBack(bundle) } }
            }
        } catch {
            refusal = PushRefusal(error)
        }
        guard let refusal else { return nil }
        note("a message of UnifiedPush for \(bundle) was refused: \(refusal)")
        return refusal.retryAfter == nil ? nil : refusal
    }

    /// Counts a push of a bundle; returns why there may not be one.
    private func take(_ bundle: BundleIdentifier) -> PushRefusal? {
        let now = moments.now().boot
        return state.withLock { state in
            do throws(PushRefusal) {
                try state.rates.take(bundle, at: now)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Logs a refusal, at most one a minute: a distributor can cause any number of them.
    private func note(_ text: String) {
        let now = moments.now().boot
        guard let more = state.withLock({ $0.refusals.note(at: now) }) else { return }
        logger.notice("\(text)\(more)")
    }

    /// Tells a bundle its endpoint by a push of priority 10, whose place no message takes.
    private func announce(_ endpoint: String?, to bundle: BundleIdentifier) {
        state.withLock { state in
            let earlier = state.announcing
            state.announcing = Task {
                await earlier?.value
                await push(endpoint, to: bundle)
            }
        }
    }

    private func push(_ endpoint: String?, to bundle: BundleIdentifier) async {
        let payload = UnifiedPushPayload.announcement(of: endpoint)
        do throws(SubmissionError) {
            _ = try await host.receive(to: bundle, payload: payload, priority: .immediate, key: nil)
            change { $0.announced(endpoint, to: bundle) }
        } catch {
            logger.warning("\(bundle) was not told its endpoint for pushes: \(error)")
        }
    }
}
