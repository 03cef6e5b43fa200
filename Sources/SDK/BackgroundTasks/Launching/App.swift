import Foundation
import Synchronization

/// The process as an app: its handlers, its host, and whether it has finished launching.
package final class App: Sendable {
    /// The only app of the process.
    package static let shared = App()

    /// The queue for calls that wait for the host when their caller must not wait.
    static let callQueue = DispatchQueue(label: "BackgroundTasks.calls", attributes: .concurrent)

    private struct State {
        /// The host; `nil` until it is first needed.
        var host: (any AppHost)?
        var hasLaunched = false
        var registrations: [String: Registration] = [:]
        /// Whether the app registered something that its manifest does not permit.
        var hasRefusedRegistration = false
        var scheduler: BGTaskScheduler?
        /// The launches that have not completed; the app's own code need not keep a reference to its task.
        var running: [ObjectIdentifier: RunningTask] = [:]
        /// The blocks of activity schedulers, by identifier.
        var activities: [String: Activity] = [:]
    }

    /// A launch handler, and the queue on which it is called.
    struct Registration: @unchecked Sendable {
        // Unchecked: Apple's declaration does not mark the handler as Sendable, but it is called only on
        // `queue`.
        let queue: DispatchQueue
        /// Whether the queue was created here; a queue that the app passed may be blocked by the app.
        let isOwnQueue: Bool
        let handler: (BGTask) -> Void
    }

    private let state = Mutex(State())

    private init() {}

    /// The host of this process.
    package var host: any AppHost {
        state.withLock { state in
            if let host = state.host { return host }
            let found: any AppHost = ControlHost.find() ?? NoHost()
            state.host = found
            ConditionNews.shared.follow(found)
            return found
        }
    }

    /// Replaces the host, for a launch or a test, and removes all handlers.
    package func adopt(_ host: any AppHost) {
        state.withLock {
            $0.host = host
            $0.hasLaunched = false
            $0.registrations = [:]
            $0.activities = [:]
            $0.running = [:]
        }
        ConditionNews.shared.follow(host)
    }

    var scheduler: BGTaskScheduler {
        state.withLock { state in
            if let scheduler = state.scheduler { return scheduler }
            let scheduler = BGTaskScheduler(self)
            state.scheduler = scheduler
            return scheduler
        }
    }

    // MARK: Registration

    func register(
        _ identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        let host = host
        if let permits = host.permits {
            guard let pattern = permits.pattern(for: identifier) else {
                state.withLock { $0.hasRefusedRegistration = true }
                host.advise(
                    "handlerNotPermitted",
                    "\(identifier) is registered, but the manifest of \(permits.bundle) does not permit it: "
                        + "add it to the manifest's tasks, or correct its spelling. The manifest permits "
                        + "\(permits.identifiers.joined(separator: ", ")).")
                return false
            }
            let isContinued = pattern.hasSuffix(".*") || permits.kinds[pattern] == .continuedProcessing
            if hasLaunched && !isContinued {
                misuse(
                    "NSInternalInconsistencyException",
                    "All launch handlers must be registered before application finishes launching: "
                        + "\(identifier) came later. Register it in application(_:didFinishLaunchingWithOptions:), "
                        + "in App.init, or in registerHandlers(with:); only continued tasks may come later.")
            }
        }
        let registration = Registration(
            queue: queue ?? DispatchQueue(label: "BackgroundTasks.\(identifier)", qos: .utility),
            isOwnQueue: queue == nil, handler: launchHandler)
        let isFirst = state.withLock { state in
            guard state.registrations[identifier] == nil else { return false }
            state.registrations[identifier] = registration
            return true
        }
        guard isFirst else {
            misuse(
                "NSInternalInconsistencyException",
                "Launch handler for task with identifier \(identifier) has already been registered. "
                    + "Register each identifier once; look for a library that registers it too.")
        }
        return true
    }

    /// Whether the app has finished launching; after that, only continued tasks can be registered.
    package var hasLaunched: Bool { state.withLock { $0.hasLaunched } }

    /// Ends registration, and advises the author about permitted identifiers without a handler.
    ///
    /// - Returns: `false` if registration had already ended.
    package func finishLaunching() -> Bool {
        let (isFirst, registered, hasRefused) = state.withLock { state in
            defer { state.hasLaunched = true }
            return (!state.hasLaunched, Set(state.registrations.keys), state.hasRefusedRegistration)
        }
        guard isFirst, let permits = host.permits else { return isFirst }
        // Continued tasks may be registered later, when a user requests them; the other kinds here do not
        // need a launch handler.
        let served: Set<BackgroundTaskKind> = [.push, .transferEvents, .activity, .continuedProcessing]
        let missing = permits.identifiers.filter { identifier in
            if identifier.hasSuffix(".*") { return false }
            if let kind = permits.kinds[identifier], served.contains(kind) { return false }
            return !registered.contains(identifier)
                && !registered.contains { Wildcard.matches(identifier, $0) }
        }
        if registered.isEmpty, !hasRefused, !missing.isEmpty {
            host.advise(
                "nothingRegistered",
                "the plugin registers no launch handler at all, but its manifest permits "
                    + "\(missing.joined(separator: ", ")): call BGTaskScheduler.shared.register(...) while it launches. "
                    + "Code inside '#if os(iOS)' compiles to nothing here; write '#if canImport(BackgroundTasks)'."
            )
        } else if !missing.isEmpty {
            host.advise(
                "handlerMissing",
                "no launch handler is registered for \(missing.joined(separator: ", ")): every permitted "
                    + "identifier needs one. Register it while the app launches, or take it out of the manifest."
            )
        }
        return isFirst
    }

    /// The permitted app refresh tasks without a handler; an unknown kind counts as app refresh.
    package var permittedRefreshesWithoutHandler: [String] {
        guard let permits = host.permits else { return [] }
        return permits.identifiers.filter {
            (permits.kinds[$0] ?? .appRefresh) == .appRefresh && registration(for: $0) == nil
                && !$0.hasSuffix(".*")
        }
    }

    /// The registration that applies to an identifier: its own, or that of the longest wildcard.
    func registration(for identifier: String) -> Registration? {
        guard let registered = registeredIdentifier(for: identifier) else { return nil }
        return state.withLock { $0.registrations[registered] }
    }

    /// The registered identifier that applies to an identifier: the same one, or the longest wildcard.
    func registeredIdentifier(for identifier: String) -> String? {
        state.withLock { state in
            if state.registrations[identifier] != nil { return identifier }
            return state.registrations.keys.filter { Wildcard.matches($0, identifier) }
                .max { $0.utf8.count < $1.utf8.count }
        }
    }

    // MARK: Requests

    func submit(_ facts: RequestFacts) throws {
        if host.isLaunch, facts.kind != .activity, registration(for: facts.identifier) == nil,
            host.permits?.pattern(for: facts.identifier) != nil
        {
            misuse("NSInternalInconsistencyException", Self.noHandler(facts.identifier))
        }
        if host.isLaunch, facts.isHealthResearch, let permits = host.permits,
            !permits.modes.contains(AppPermits.healthResearch)
        {
            throw BGTaskScheduler.Error(
                .notPermitted,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(facts.identifier): it is a health research request, but the manifest of "
                        + "\(permits.bundle) does not have this mode. Add to its modes: \(AppPermits.healthResearch)"
                ])
        }
        if let problem = facts.problemWithTitles {
            throw BGTaskScheduler.Error(.notPermitted, userInfo: [NSLocalizedDescriptionKey: problem])
        }
        if facts.isFarAhead(of: host.now) {
            host.advise(
                "earliestFarAhead",
                "A request of \(facts.identifier) has an earliest begin date more than 7 days ahead, and Apple "
                    + "advises against that. The host keeps the request. If the work is not urgent, submit the "
                    + "request on a later launch.")
        }
        if let payload = facts.payload, payload.count > Self.largestBlob {
            throw BGTaskScheduler.Error(
                .notPermitted,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(facts.identifier): its payload has \(payload.count) bytes; the limit is \(Self.largestBlob). "
                        + "Put the data into a file and pass its path."
                ])
        }
        do {
            try host.submit(facts)
        } catch {
            throw BGTaskScheduler.Error(error.code, userInfo: [NSLocalizedDescriptionKey: error.text])
        }
    }

    static func noHandler(_ identifier: String) -> String {
        "No launch handler registered for task with identifier \(identifier). "
            + "Register one while the app launches, before you submit the request."
    }

    /// The largest number of bytes in a payload or a checkpoint: what fits into one frame of the runner
    /// protocol.
    static let largestBlob = 49_152

    // MARK: Launches

    /// Calls the handler for a launch, on its queue.
    ///
    /// - Returns: The running task; `nil` if no handler is registered for it.
    package func launch(_ facts: LaunchFacts, over channel: any TaskChannel) -> RunningTask? {
        if facts.kind == .activity, registration(for: facts.identifier) == nil {
            return launchActivity(facts, over: channel)
        }
        guard let registration = registration(for: facts.identifier) else { return nil }
        let running = RunningTask(
            facts, channel, expiresOn: registration.isOwnQueue ? nil : registration.queue)
        let task = BGTask.task(for: facts, running)
        keep(running)
        running.begin()
        let call = Unchecked((task, registration.handler))
        registration.queue.async {
            call.value.1(call.value.0)
            running.handlerReturned()
        }
        return running
    }

    // MARK: Activities

    private func launchActivity(_ facts: LaunchFacts, over channel: any TaskChannel) -> RunningTask? {
        guard let activity = state.withLock({ $0.activities.removeValue(forKey: facts.identifier) }) else {
            return nil
        }
        let running = RunningTask(facts, channel, expiresOn: nil)
        keep(running)
        activity.run(running)
        return running
    }

    /// Stores a launch until it has completed.
    func keep(_ running: RunningTask) {
        let id = ObjectIdentifier(running)
        state.withLock { $0.running[id] = running }
        running.whenCompleted { [weak self] _ in self?.state.withLock { $0.running[id] = nil } }
    }

    /// Stores a block until its activity is launched.
    func keep(_ activity: Activity) {
        state.withLock { $0.activities[activity.scheduler.identifier] = activity }
    }

    func forgetActivity(_ identifier: String) {
        state.withLock { $0.activities[identifier] = nil }
    }
}

extension BGTask {
    /// The task object for the handler of a launch.
    static func task(for facts: LaunchFacts, _ running: RunningTask) -> BGTask {
        switch facts.kind {
        case .appRefresh, .push, .transferEvents, .appLaunch: BGAppRefreshTask(running)
        case .processing where facts.isHealthResearch: BGHealthResearchTask(running)
        case .processing, .activity: BGProcessingTask(running)
        case .continuedProcessing: BGContinuedProcessingTask(running)
        }
    }
}
