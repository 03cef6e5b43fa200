/// The submission that the failure of a request makes, because its task has an `onFailure:`.
public struct FailureSubmission: Equatable, Sendable {
    /// What is submitted; its payload contains the record of the launch.
    public var submission: TaskSubmission
    /// How the store accepts it: always as a request of a queue, so that it replaces no other one.
    public var terms: RequestTerms

    /// Makes the submission for the end of a launch.
    ///
    /// - Parameters:
    ///   - target: The task that is submitted.
    ///   - launch: The launch that was the last one of its request.
    ///   - payload: The record of the launch, as a JSON object; `nil` if the task can't read it.
    ///   - terms: How the store accepts it.
    public init(of target: TaskIdentifier, for launch: LaunchID, payload: String?, terms: RequestTerms) {
        submission = TaskSubmission(identifier: target, origin: .failure)
        submission.payload = payload
        submission.idempotencyKey = FailureKey.text(of: launch)
        self.terms = terms
        // The launch ends only once; the key names it for those who read the request.
        self.terms.queue = QueueTerms(unique: QueueDeclaration.longestUnique)
        self.terms.pendingLimit = nil
    }

    /// Whether a launch that ended like this has failed, so that an `onFailure:` applies if its request is
    /// not tried again.
    ///
    /// What a user or a change of the manifests stopped has not.
    public static func applies(_ outcome: Outcome, expiration: Reason?) -> Bool {
        if expiration == .cancelledByUser || expiration == .manifestRemoved { return false }
        return outcome != .succeeded && outcome != .cancelled
    }

    /// The keys of the payload that a task can declare, with their types.
    ///
    /// Without a declaration, the payload has all keys of a launch's record.
    public static let keys: [String: PayloadType] = [
        "launch": .string, "request": .string, "identifier": .string, "bundle": .string, "kind": .string,
        "outcome": .string, "reason": .string, "message": .string, "startedAt": .string, "endedAt": .string,
        "attempt": .integer, "token": .integer, "leftovers": .integer, "cpuSeconds": .number,
        "isSimulated": .boolean,
    ]
}

/// The keys by which the host knows the requests that failures made.
public enum FailureKey {
    private static let prefix = "failure-of-"

    /// The key of the request that the failure of a launch made.
    static func text(of launch: LaunchID) -> String { prefix + "\(launch)" }

    /// The launch in a key; `nil` if it is another key.
    public static func launch(in key: String?) -> LaunchID? {
        guard let key, key.hasPrefix(prefix) else { return nil }
        return LaunchID(String(key.dropFirst(prefix.count)))
    }
}

extension TaskRequest {
    /// The launch whose failure made the request; `nil` if none did.
    public var failedLaunch: LaunchID? {
        submission.origin == .failure ? FailureKey.launch(in: submission.idempotencyKey) : nil
    }
}
