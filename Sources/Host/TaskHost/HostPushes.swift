import HostCore
import LinuxSystem
public import Pushes
import Synchronization
public import TaskModel

/// Pushes, where servers send them, and the secrets with which senders outside sign them.
///
/// `PushControl`, `PushReceiver` and `PushConnectorHost` document its functions.
public struct HostPushes: Sendable {
    let host: TaskHost

    /// The files with the secrets of bundles.
    public var secrets: PushSecretFiles {
        PushSecretFiles(directory: host.configuration.stateDirectory + "/push-secrets")
    }

    /// Delivers a silent push of a client to a bundle's task of the kind `push`.
    public func push(
        to bundle: BundleIdentifier, payload: String?, priority: PushPriority
    ) async throws(SubmissionError) -> AcceptedSubmission {
        AcceptedSubmission(
            try await host.ask(.push(PushOrder(to: bundle, payload: payload, priority))).acceptance())
    }

    /// Delivers a push that came from outside.
    ///
    /// - Parameters:
    ///   - bundle: The bundle that gets it.
    ///   - payload: The payload, as JSON text.
    ///   - priority: How urgent it is.
    ///   - key: The same text for each attempt to send the same push.
    /// - Returns: The request, which is durable, and whether an earlier push with this key made it.
    /// - Throws: The refusal.
    public func receive(
        to bundle: BundleIdentifier, payload: String, priority: PushPriority, key: String?
    ) async throws(SubmissionError) -> (request: TaskRequest, isRepeat: Bool) {
        let order = PushOrder(to: bundle, payload: payload, priority, key: key)
        let acceptance = try await host.ask(.push(order)).acceptance()
        return (acceptance.request, acceptance.isRepeat)
    }

    /// The request that an earlier push with a key led to; `nil` if there is none.
    ///
    /// It reads only the store, so it costs little and takes no turn of the scheduler.
    ///
    /// - Throws: The refusal, if the bundle gets no pushes or the store can't be read.
    public func earlier(
        to bundle: BundleIdentifier, key: String
    ) async throws(SubmissionError) -> TaskRequest? {
        await host.untilBegun()
        return try await host.stored.request(try await pushTask(of: bundle, in: host), key: key)
    }

    /// Remembers for `bgtask doctor` why the listener can't listen, or with `nil` that it does.
    public func listenerChanged(_ problem: ManifestProblem?) { host.pushProblem.withLock { $0 = problem } }

    /// Changes the secrets of a bundle that has a task of the kind `push`.
    public func changeSecret(
        of bundle: BundleIdentifier, _ change: PushSecretChange
    ) async throws(SubmissionError) -> PushSecretFacts {
        await host.untilBegun()
        if change != .remove { _ = try await pushTask(of: bundle, in: host) }
        let files = secrets
        return try await host.worker.run {
            Result { () throws(SubmissionError) in try files.make(change, of: bundle) }
        }.get()
    }

    private func pushTask(
        of bundle: BundleIdentifier, in host: isolated TaskHost
    ) throws(SubmissionError) -> TaskIdentifier {
        try host.core.pushTask(of: bundle)
    }

    /// The bundles that are registered with a distributor of UnifiedPush, with their endpoints; sorted by
    /// name.
    public func endpoints() async throws(SubmissionError) -> [PushEndpoint] {
        let file = RegistrationFile(directory: host.configuration.stateDirectory)
        let result = await host.worker.run { Result { try file.read() } }
        do {
            return try result.get().map {
                PushEndpoint(bundle: $0.key, distributor: $0.value.distributor, endpoint: $0.value.endpoint)
            }.sorted { $0.bundle < $1.bundle }
        } catch {
            throw SubmissionError(
                code: .unavailable, subject: "the registrations of UnifiedPush", finding: "\(error)",
                remedy: "Restart the host; it makes new ones")
        }
    }

    /// Calls a function now and after each change of the manifests with the bundles that have a task of the
    /// kind `push`.
    ///
    /// - Parameter changed: The function; called on any thread.
    /// - Returns: A function that ends it.
    public func followBundles(
        _ changed: @escaping @Sendable (Set<BundleIdentifier>) -> Void
    ) async -> @Sendable () -> Void {
        await host.untilBegun()
        let stop = host.registryNews.listen { [weak host] news in
            guard let host, news != nil else { return }
            Task { changed(await host.core.pushBundles) }
        }
        changed(await host.core.pushBundles)
        return stop
    }
}
