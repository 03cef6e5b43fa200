import HandlerRegistry
public import TaskModel

/// A silent push to a bundle.
public struct PushOrder: Sendable, Equatable {
    /// The bundle that gets it.
    public var bundle: BundleIdentifier
    /// The payload, as JSON text; `nil` if there is none.
    public var payload: String?
    /// How urgent it is.
    public var priority: PushPriority
    /// The same text for each attempt to send the same push; `nil` if there is no such text.
    public var key: String?

    public init(
        to bundle: BundleIdentifier, payload: String?, _ priority: PushPriority, key: String? = nil
    ) {
        self.bundle = bundle
        self.payload = payload
        self.priority = priority
        self.key = key
    }
}

/// Silent pushes.
extension HostCore {
    /// The identifier of the task that handles the pushes of a bundle.
    ///
    /// - Throws: ``SubmissionError`` if there is none: `notFound` if no manifest has the bundle,
    ///   `notPermitted` if its manifest has no such task.
    public func pushTask(of bundle: BundleIdentifier) throws(SubmissionError) -> TaskIdentifier {
        guard let handler = handlers[bundle] else { throw unknownBundle(bundle) }
        let task = handler.manifest.tasks.first { $0.kind == .push && !$0.pattern.isWildcard }
        if let task { return task.pattern.base }
        throw SubmissionError(
            code: .notPermitted, subject: "\(bundle)", finding: "its manifest has no task of the kind push",
            remedy: "Add one, and the mode remote-notification: Documentation/Manifest.md")
    }

    /// The installed bundles with a task of the kind `push`.
    public var pushBundles: Set<BundleIdentifier> {
        Set(
            registered.handlers.map(\.manifest).filter { manifest in
                manifest.tasks.contains { $0.kind == .push && !$0.pattern.isWildcard }
            }.map(\.bundle))
    }

    mutating func deliver(
        _ push: PushOrder, _ call: CallID, _ asked: HostCall, _ isRescanned: Bool
    ) {
        do {
            var submission = TaskSubmission(identifier: try pushTask(of: push.bundle), origin: .client)
            submission.payload = push.payload
            submission.pushPriority = push.priority
            submission.idempotencyKey = push.key
            submit(submission, for: .call(call))
        } catch {
            if !isRescanned { return rescan(for: call, asked) }
            refuse(call, error)
        }
    }
}
