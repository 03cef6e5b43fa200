import HostCore
import LinuxSystem
public import Pushes
public import TaskModel

/// Pushes, and the secrets with which senders outside sign them.
extension TaskHost {
    /// The files with the secrets of bundles.
    public nonisolated var pushSecrets: PushSecretFiles {
        PushSecretFiles(directory: configuration.stateDirectory + "/push-secrets")
    }

    /// Delivers a silent push to a bundle's task of the kind `push`.
    public func push(to bundle: BundleIdentifier, payload: String?, priority: PushPriority)
        async throws(SubmissionError) -> TaskRequest
    {
        try accepted(await ask(.push(PushOrder(to: bundle, payload: payload, priority))))
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
        return try await ask(.push(order)).value {
            if case .accepted(let acceptance) = $0 { (acceptance.request, acceptance.isRepeat) } else { nil }
        }
    }

    /// Changes the secrets of a bundle that has a task of the kind `push`.
    ///
    /// - Returns: The new secret, which nothing shows again, and its file.
    /// - Throws: `notFound` or `notPermitted` without such a task; `invalidRequest` if the present secrets do
    ///   not permit the change; `unavailable` if the file can't be read or written.
    public func changePushSecret(
        of bundle: BundleIdentifier, _ change: PushSecretChange
    ) async throws(SubmissionError) -> PushSecretFacts {
        await untilBegun()
        if change != .remove { _ = try core.pushTask(of: bundle) }
        let files = pushSecrets
        let result = await worker.run { Self.apply(change, to: bundle, in: files) }
        return try result.get()
    }

    private static func apply(
        _ change: PushSecretChange, to bundle: BundleIdentifier, in files: PushSecretFiles
    ) -> Result<PushSecretFacts, SubmissionError> {
        func refusal(_ code: SubmissionError.Code, _ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(code: code, subject: "\(bundle)", finding: finding, remedy: remedy)
        }
        do {
            // A damaged file can be replaced and removed.
            let isRepair = change == .replace || change == .remove
            let present = isRepair ? [] : try files.secrets(of: bundle)
            guard let secrets = change.applied(to: present) else {
                return .failure(
                    present.isEmpty
                        ? refusal(
                            .invalidRequest, "it has no secret for pushes",
                            "Make one: bgtask push-secret \(bundle)")
                        : refusal(
                            .invalidRequest, "it has a secret for pushes already",
                            "Add --rotate to make another one, or --replace to reject those before"))
            }
            try files.set(secrets, of: bundle)
            let isNew = change == .create || change == .rotate || change == .replace
            return .success(
                PushSecretFacts(
                    path: files.path(of: bundle), secret: isNew ? secrets.first?.text : nil,
                    count: secrets.count))
        } catch let problem as PushSecretFiles.Problem {
            return .failure(refusal(.unavailable, problem.finding, problem.remedy))
        } catch {
            return .failure(
                refusal(
                    .unavailable, "\(error)", "Make room on the disk of the state directory, and repeat it"))
        }
    }
}

/// The bundles that get pushes.
extension TaskHost {
    /// Calls a function now and after each change of the manifests with the bundles that have a task of the
    /// kind `push`.
    ///
    /// - Parameter changed: The function; called on any thread.
    /// - Returns: A function that ends it.
    public func followPushBundles(
        _ changed: @escaping @Sendable (Set<BundleIdentifier>) -> Void
    ) async -> @Sendable () -> Void {
        await untilBegun()
        let stop = registryNews.listen { [weak self] news in
            guard let self, news != nil else { return }
            Task { changed(await self.core.pushBundles) }
        }
        changed(core.pushBundles)
        return stop
    }
}

/// Where servers send pushes, by UnifiedPush.
extension TaskHost {
    /// The bundles that are registered with a distributor, with their endpoints; sorted by name.
    ///
    /// - Throws: `unavailable` if the file with the registrations can't be read.
    public func pushEndpoints() async throws(SubmissionError) -> [PushEndpoint] {
        let file = RegistrationFile(directory: configuration.stateDirectory)
        let result = await worker.run { Result { try file.read() } }
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
}
