public import TaskModel

/// A push that arrived from the network, and whose signature is right.
public struct ReceivedPush: Sendable, Equatable {
    /// The bundle that gets it.
    public let bundle: BundleIdentifier
    /// The payload, as JSON text.
    public let payload: String
    /// How urgent it is.
    public let priority: PushPriority
    /// The same text for each attempt to send the same push.
    public let key: String
}

/// What receives pushes: the host.
public protocol PushReceiver: Sendable {
    /// Hears why the listener can't listen now, or with `nil` that it listens.
    func listenerChanged(_ problem: ManifestProblem?)

    /// The request that an earlier push with the same key led to; `nil` if there is none.
    func earlier(_ push: ReceivedPush) async throws(SubmissionError) -> TaskRequest?

    /// Delivers a push, which is durable when the function returns.
    ///
    /// - Returns: The request, and whether a push with the same key led to it before.
    /// - Throws: The host's refusal.
    func receive(_ push: ReceivedPush) async throws(SubmissionError)
        -> (request: TaskRequest, isRepeat: Bool)
}
