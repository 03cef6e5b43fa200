/// The network that a task requires: `network` in manifests and submissions.
public enum NetworkRequirement: String, Sendable, Codable, CaseIterable, Hashable {
    /// Any network; one that is metered lowers the score of a deferrable request.
    case any
    /// A network without costs: it is neither metered nor in low-data mode.
    case unmetered

    /// The requirement of a task that requires a network and does not say which one.
    ///
    /// Processing can transfer a lot and can wait, so it requires `unmetered`. The other kinds are short, or
    /// a user asked for them.
    public static func standard(for kind: TaskKind) -> Self {
        switch kind {
        case .processing: .unmetered
        case .appRefresh, .continuedProcessing, .push, .transferEvents, .activity, .appLaunch: .any
        }
    }

    /// Finds the requirement of a request.
    ///
    /// A requirement holds if the request or the manifest states it, so the stricter of two statements
    /// counts.
    ///
    /// - Parameters:
    ///   - submission: The request's submission.
    ///   - declaration: The task in the manifest; `nil` if there is none.
    ///   - kind: The kind of the task.
    /// - Returns: The requirement; `nil` if the request requires no network.
    public static func inForce(
        _ submission: TaskSubmission, _ declaration: TaskDeclaration?, kind: TaskKind
    ) -> Self? {
        let stated = [submission.network, declaration?.network].compactMap(\.self)
        if stated.contains(.unmetered) { return .unmetered }
        if !stated.isEmpty { return .any }
        let isRequired =
            submission.requiresNetworkConnectivity || declaration?.requiresNetworkConnectivity == true
        return isRequired ? standard(for: kind) : nil
    }
}

extension TaskDeclaration {
    /// The network that every request of the task requires; `nil` if none.
    public var requiredNetwork: NetworkRequirement? {
        network ?? (requiresNetworkConnectivity ? .standard(for: kind) : nil)
    }
}
